/* SPDX-License-Identifier: MIT */
/* runner/check_private.h: a check's members, shared by check.c and check_report.c only. */
#ifndef RUNNER_CHECK_PRIVATE_H
#define RUNNER_CHECK_PRIVATE_H

#include "runner/check.h"
#include "runner/verdict.h"

struct check {
	struct check_world *world;
	const struct check_conf *conf;
	struct agent_check *agent;
	struct remains *remains;
	struct run run;

	/* Schedule. */
	double phase;
	double due; /* when the planned run, or the open one, should start */
	ev_timer tick;
	ev_prepare cleared; /* never started: fed when what an earlier run left is gone */
	bool waiting; /* due, but an earlier run is not gone yet */
	bool stopped;
	bool skipping; /* ticks are being skipped, and it was said */
	bool voided; /* the last run was void */

	/* Meaning. */
	struct threshold_state state;
	enum threshold_effect effect; /* of the last result */
	ev_timer freshness;

	/* What is claimed; NULL before the first claim of this process. */
	char *output;
	enum probe_status claimed;
	bool stale;
	double claimed_at; /* boot time of the last change of status */

	/* The last result, and counters, for status. */
	struct verdict last;
	char *last_line; /* the first of what it said */
	struct measures values; /* that it has seen */
	double ended_at; /* boot time, 0 before the first */
	double duration;
	double phase_seconds[PHASE_COUNT];
	double lateness, max_lateness;
	unsigned long runs, skipped, voids, timeouts, changes;
};

#endif
