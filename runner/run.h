/* SPDX-License-Identifier: MIT */
/* runner/run.h: one run of a probe under its deadline. */
#ifndef RUNNER_RUN_H
#define RUNNER_RUN_H

#include <ev.h>

#include "runner/settings.h"

/*
 * A member of its owner, never moved. Between run_start and the call of done (or
 * run_cancel) it is open; done comes exactly once, from the loop. The outcome may be
 * read until run_finish or the next run_start.
 */
struct run {
	struct probe *probe; /* NULL while no run is open */
	struct outcome outcome;
	struct settings *settings; /* shared: the run's configuration outlives a reload */
	double timeout; /* s, as the run was started with */
	bool traced; /* the outcome is to have a trace; set by the owner before run_start */
	ev_timer deadline;
	ev_timer verdict; /* the deadline's second pass */
	struct ev_loop *loop;
	void (*done)(void *owner);
	void *owner;
};

/* Sets the owner; nothing to undo. */
void run_init(struct run *run, struct ev_loop *loop, void (*done)(void *owner), void *owner);

/* Starts one; none may be open. settings is the owner of check. */
void run_start(struct run *run, struct settings *settings, const struct check_conf *check,
	struct remains *remains);

/* Ends an open run without a result; done is not called. */
void run_cancel(struct run *run);

/* Cancels, and frees the last outcome. */
void run_finish(struct run *run);

#endif
