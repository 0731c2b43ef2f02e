/* SPDX-License-Identifier: MIT */
/* probes/limits.h: ranges as Nagios writes them, and numbers against a pair of them. Pure. */
#ifndef PROBES_LIMITS_H
#define PROBES_LIMITS_H

#include <stdbool.h>

#include "config/field.h"
#include "probes/outcome.h"

/* Numbers that are fine: from and to included; with inside, those that are not. */
struct limit_range {
	const char *text; /* as written; NULL: no such limit */
	double from, to; /* may be infinite */
	bool inside;
};

/* A row kind: 4 (0:4), 10:, ~:10, 10:20 and @10:20. */
extern const struct conf_kind limit_range;
#define LIMIT_RANGE(T, member, ...)                                                                \
	CONF_ROW(T, member, struct limit_range, limit_range, __VA_ARGS__)

/* True where the range is given and does not allow the number; NAN is allowed by none. */
bool limit_is_broken(const struct limit_range *range, double number);

/* What a pair of limits says; *ret_broken is the one that counts, NULL if both are kept. */
enum probe_status limits_judge(const struct limit_range *warning,
	const struct limit_range *critical, double number, const struct limit_range **ret_broken);

/* "outside critical 8", "inside warning 10:20": a broken limit, of that status. free(). */
char *limit_text(const struct limit_range *range, enum probe_status status);

#endif
