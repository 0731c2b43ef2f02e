/* SPDX-License-Identifier: MIT */
/* probes/match_private.h: a compiled pattern, between match.c and match_conf.c. */
#ifndef PROBES_MATCH_PRIVATE_H
#define PROBES_MATCH_PRIVATE_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdbool.h>

#include "probes/match.h"

struct match {
	const char *text;
	const char *shown; /* the same, what came from the environment as *** */
	pcre2_code *code;
	bool jit;
	bool has_starts; /* a match begins with one of these bytes, and is not empty */
	bool has_lasts; /* a match has one of these bytes in it */
	unsigned char starts[256 / 8], lasts[256 / 8];
};

#endif
