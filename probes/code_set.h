/* SPDX-License-Identifier: MIT */
/* probes/code_set.h: sets of small numbers with a meaning, HTTP status codes and exit codes. */
#ifndef PROBES_CODE_SET_H
#define PROBES_CODE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "config/field.h"

/* RFC 9110, section 15: codes outside are invalid; no set of statuses holds them. */
#define HTTP_STATUS_MIN 100
#define HTTP_STATUS_MAX 599
#define EXIT_CODE_MAX 255 /* wait(2) hands on eight bits */

struct code_set {
	uint64_t bits[HTTP_STATUS_MAX / 64 + 1];
};

bool code_set_has(const struct code_set *set, long code); /* any code */
void code_set_add(struct code_set *set, long code); /* from 0 to HTTP_STATUS_MAX */
bool code_set_overlaps(const struct code_set *a, const struct code_set *b);

/*
 * A pair of sets, either of which may be its row's default: what is written wins over a
 * default. False if both are written and contradict each other.
 */
bool code_set_settle(struct code_set *passing, bool passing_written, struct code_set *warning,
	bool warning_written);

/*
 * A row kind: one of, or a list of, 204 and 200-299, within the row's range; where all
 * codes of it have three digits also 2xx. Empty only where the row says CONF_EMPTY.
 */
extern const struct conf_kind code_set;
#define HTTP_STATUSES(T, member, ...)                                                              \
	CONF_ROW(T, member, struct code_set, code_set, .min = HTTP_STATUS_MIN,                     \
		.max = HTTP_STATUS_MAX, __VA_ARGS__)
#define EXIT_CODES(T, member, ...)                                                                 \
	CONF_ROW(T, member, struct code_set, code_set, .max = EXIT_CODE_MAX, __VA_ARGS__)

#endif
