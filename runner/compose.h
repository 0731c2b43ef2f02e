/* SPDX-License-Identifier: MIT */
/* runner/compose.h: one status out of those of several probes. Pure. */
#ifndef RUNNER_COMPOSE_H
#define RUNNER_COMPOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "probes/outcome.h"

struct compose_conf;

/* What is known of one member. */
struct compose_member {
	const char *name;
	bool known; /* false: no result yet, and status means nothing */
	enum probe_status status; /* what it is, whatever its caps say */
	enum probe_status cap; /* what it counts as at most */
	const char *line; /* the first of what it says; "" for nothing */
};

/*
 * The wanted-th best of the members, each under its cap; count is at least wanted.
 * False while members of which nothing is known yet could change it.
 */
bool compose_judge(const struct compose_member *members, size_t count, unsigned int wanted,
	enum probe_status *ret_status);

/*
 * "1 of 3 passing, all wanted; critical: db; not counted: search": which members are why.
 * Valid UTF-8 in one line; free().
 */
char *compose_line(const struct compose_member *members, size_t count, unsigned int wanted);

/* A line for each member, those that fail first: "db: critical: timed out after 1s". free(). */
char *compose_details(const struct compose_member *members, size_t count);

#endif
