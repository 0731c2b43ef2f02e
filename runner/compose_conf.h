/* SPDX-License-Identifier: MIT */
/* runner/compose_conf.h: of which probes a check is made. */
#ifndef RUNNER_COMPOSE_CONF_H
#define RUNNER_COMPOSE_CONF_H

#include "config/field.h"

struct check_conf;

/* One of those that a composed check is made of. */
struct member_conf {
	const char *probe; /* name of one of `probes` */
	int max_status; /* enum probe_status: what it counts at most, under `all` */

	/* Derived. */
	struct conf_mark mark;
	const struct check_conf *is;
};

/* The keys all, any, at_least and probe: a check out of results that others bring. */
struct compose_conf {
	const char *name; /* key `probe`: the only member */
	unsigned int n; /* key `at_least` */
	struct conf_items of; /* of struct member_conf */

	/* Derived. */
	struct member_conf *members;
	size_t count;
	unsigned int wanted; /* so many have to pass */
};

#endif
