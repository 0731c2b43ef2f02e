/* SPDX-License-Identifier: MIT */
/* runner/check_private.h: a check's members, shared by check*.c only. */
#ifndef RUNNER_CHECK_PRIVATE_H
#define RUNNER_CHECK_PRIVATE_H

#include "runner/check.h"
#include "runner/verdict.h"

/* One of the checks that a composed check is made of. */
struct check_link {
	struct check *member;
	enum probe_status cap;
};

struct check {
	struct check_world *world;
	const struct check_conf *conf;
	struct agent_check *agent; /* NULL: a shared probe, which is no check there */
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
	double begun; /* when the last run was; 0: none yet */
	struct probe_watch *watch; /* NULL: nothing is watched between the runs */
	bool woken; /* in the middle of a run: another one follows it */

	/* Meaning. */
	struct threshold_state state;
	enum threshold_effect effect; /* of the last result */
	ev_timer freshness;

	/* What is claimed; NULL before the first claim of this process. */
	char *output;
	enum probe_status claimed;
	bool stale;
	bool held; /* the last result is from before a stall */
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

	/* Composition: what this one is made of, and what is made of it. */
	struct check_link *links;
	size_t link_count;
	struct check **users;
	size_t user_count;
};

/* check.c: takes over the text and claims it; says so if the status changed. */
void check_claim_text(struct check *check, enum probe_status status, char *take_text);

/* check_group.c: until when what it claims is fresh (boot time); HUGE_VAL: it claims that it is
 * not.
 */
double check_fresh_until(const struct check *check);

/* check_group.c: those that are made of this check take its new result into account. */
void check_tell_users(const struct check *check);

/* check_group.c: frees both lists. */
void check_unlink(struct check *check);

/* check_wake.c: the watch of the check's type, where it has one; wakes that came in a run. */
void check_wake_start(struct check *check);
void check_wake_stop(struct check *check); /* idempotent */
void check_wake_after_run(struct check *check); /* the next one is planned */

/* check.c: the next run is no later than `due`; none may be open. */
void check_bring_forward(struct check *check, double due);

#endif
