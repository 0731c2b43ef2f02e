/* SPDX-License-Identifier: MIT */
/* probes/time_limits.h: limits on a time, from mild to strict: a latency, a lag. Pure. */
#ifndef PROBES_TIME_LIMITS_H
#define PROBES_TIME_LIMITS_H

#include "config/field.h"
#include "probes/outcome.h"

struct time_limits { /* s; 0: no limit */
	double note, warning, critical;
};

extern const struct conf_field time_limits_fields[];

/* A row of a map with these keys. */
#define TIME_LIMITS(T, member, ...)                                                                \
	CONF_MAP(T, member, time_limits, time_limits_fields, .check = time_limits_check,           \
		__VA_ARGS__)

/* The order of the limits; see conf_field.check. */
bool time_limits_check(void *conf, const struct conf_node *node, struct conf_load *load);

/* The strictest limit that is broken, and its status; 0, *ret_status untouched, where none is. */
double time_limits_broken(
	const struct time_limits *limits, double seconds, enum probe_status *ret_status);

#endif
