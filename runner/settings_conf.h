/* SPDX-License-Identifier: MIT */
/* runner/settings_conf.h: the structs that the top-level rows fill. */
#ifndef RUNNER_SETTINGS_CONF_H
#define RUNNER_SETTINGS_CONF_H

#include <stdbool.h>

#include "config/field.h"
#include "probes/probe.h"
#include "probes/time_limits.h"
#include "runner/compose_conf.h"
#include "runner/consul_conf.h"

struct weights_conf {
	unsigned int passing, warning;
};

/* A service that probity itself registers. */
struct register_conf {
	const char *name;
	const char *address; /* NULL: the node's */
	unsigned int port; /* 0: none */
	struct conf_strings tags;
	struct conf_pairs meta;
	struct weights_conf weights;
	double deregister_critical_service_after; /* s; 0: never */
	bool revive;
};

enum on_stop {
	ON_STOP_AUTO, /* critical where the unit is stopped as well, else leave */
	ON_STOP_LEAVE,
	ON_STOP_CRITICAL,
	ON_STOP_DEREGISTER, /* only with a registration */
};

struct service_conf {
	const char *id; /* NULL: the file has node checks only */
	struct register_conf *registration; /* key `register`; NULL: somebody else registers it */
	const char *unit;
	int on_stop; /* enum on_stop */
	bool defaults; /* given */
	struct conf_items checks; /* of struct check_conf */

	/* Derived. */
	struct conf_mark mark;
};

enum check_update {
	UPDATE_CHECK_UPDATE,
	UPDATE_TTL,
};

struct check_conf {
	const char *name;
	const char *id; /* always set after the load: "<service id>:<name>" or "probity:<name>" */
	const char *notes; /* for people; NULL if none */
	struct conf_choice_of probe;
	double interval;
	double retry_interval; /* always set after the load */
	double timeout; /* always set after the load */
	double ttl;
	int update; /* enum check_update */
	unsigned int success_before_passing;
	unsigned int failures_before_warning; /* always set after the load */
	unsigned int failures_before_critical;
	int max_status; /* enum probe_status */
	bool node, take_over;
	struct time_limits max_latency;

	/* Derived. */
	const struct probe_type *type; /* NULL for a composed one */
	struct compose_conf *composed; /* NULL: it has runs of its own */
	bool shared; /* one of `probes`: it has runs, and is no check on the agent */
	bool used; /* shared, and there is a check that it is for */
	const struct service_conf *service; /* NULL for a node check */
	const char *target; /* what is probed, for people, without secrets */
	double kill_grace; /* of a script, 0 elsewhere: part of how long a result is fresh */
	struct conf_mark mark;
};

#endif
