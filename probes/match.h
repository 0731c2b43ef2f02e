/* SPDX-License-Identifier: MIT */
/* probes/match.h: regular expressions with effort limits, for expect, body_match and their kind. */
#ifndef PROBES_MATCH_H
#define PROBES_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "config/field.h"

struct match; /* a compiled pattern, in the arena of its configuration */

enum match_result {
	MATCH_YES,
	MATCH_NO,
	MATCH_ERROR, /* a limit was hit, or the engine failed: never the same as NO */
};

/*
 * A row kind: a pcre2 pattern, compiled at load, with JIT where the system allows it. UTF-8;
 * ^ and $ match at each line, which LF, CR LF or CR ends.
 */
extern const struct conf_kind match_pattern; /* const struct match * */
#define MATCH_PATTERN(T, member, ...)                                                              \
	CONF_ROW(T, member, const struct match *, match_pattern, __VA_ARGS__)

/*
 * Any bytes; each byte that is not part of valid UTF-8 is matched as U+FFFD.
 * Returns after a bounded effort (about 0.3 s of CPU) whatever pattern and bytes
 * are. On MATCH_ERROR *ret_error is static text.
 */
enum match_result match_bytes(
	const struct match *match, const void *bytes, size_t length, const char **ret_error);

/* A text of which more may come, and how far the first match in it goes. */
struct match_subject {
	const void *bytes;
	size_t length;
	bool unfinished; /* its end is no end of a line: $ does not match there */
};

/*
 * As match_bytes(). On MATCH_YES *ret_end is the offset behind the match; ret_end may
 * be NULL.
 */
enum match_result match_find(const struct match *match, const struct match_subject *subject,
	size_t *ret_end, const char **ret_error);

/*
 * Each line of a text by itself, lines ending in LF, with one bounded effort for all. On
 * MATCH_YES *ret_line is the first that matches.
 */
enum match_result match_lines(const struct match *match, const char *text,
	struct match_subject *ret_line, const char **ret_error);

const char *match_text(const struct match *match); /* the pattern as written */
const char *match_shown(const struct match *match); /* what came from the environment as *** */

#endif
