/* SPDX-License-Identifier: MIT */
/* runner/stall.h: notices that the process or the machine stood still. */
#ifndef RUNNER_STALL_H
#define RUNNER_STALL_H

#include <ev.h>
#include <stdbool.h>

/* A loop pass this much late is a stall: well over what a busy machine does to a ready process. */
#define STALL_LATE 0.5
/* Boot time ahead of monotonic time by this much more than before is a suspend. */
#define STALL_SUSPEND 1.0

/* A member of its owner, never moved. */
struct stall {
	struct ev_loop *loop;
	ev_check pass; /* first in each loop pass */
	ev_timer pulse; /* bounds how long a pass may wait, so that lateness shows */
	ev_timer settle; /* the pass after: what was pending has been judged */
	double pulse_due; /* monotonic */
	double boot_lead; /* boot time minus monotonic time, as last seen */
	double ended; /* monotonic, of the stall being settled */
	unsigned long count;

	/* Before any other callback of the pass; seconds is how late it is. */
	void (*noticed)(void *owner, double seconds);
	/* After the events that were pending; ended is when the stall was over. */
	void (*settled)(void *owner, double ended);
	void *owner;
};

/* Start sets all members but the last three, which the caller fills before. */
void stall_start(struct stall *stall, struct ev_loop *loop);
void stall_stop(struct stall *stall);

#endif
