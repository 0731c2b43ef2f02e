/* SPDX-License-Identifier: MIT */
/* probes/child_private.h: the children between child.c and child_end.c, for nobody else. */
#ifndef PROBES_CHILD_PRIVATE_H
#define PROBES_CHILD_PRIVATE_H

#include "probes/child.h"
#include "probes/child_spawn.h"
#include "probes/child_tree.h"

#define CHILD_BUCKETS 256 /* about as many as run at a time, so that a chain holds one */

enum child_state {
	CHILD_FAILED, /* never ran; the owner is about to hear of it */
	CHILD_RUNNING,
	CHILD_DRAINING, /* reaped; its output may still come */
	CHILD_ENDED, /* the owner has heard its verdict */
	CHILD_LEAVING, /* released; what is left of it is being ended */
};

struct child {
	struct child *next; /* in its bucket */
	struct ev_loop *loop;
	struct child_events events;
	struct remains *remains;
	struct spawn_failure failure;
	enum child_state state;
	pid_t pid; /* also of its process group and session */
	int wait_status;
	bool reaped;
	bool held; /* counted in remains */
	bool stubborn; /* has outlived KILL */
	int signal; /* leaving: what its processes get */
	unsigned int members; /* leaving: processes that the last sweep found */
	bool group_killed; /* in this sweep */
	double kill_grace;
	double started; /* s on the boot clock */
	char *path;
	char run[sizeof(TREE_RUN_NAME) + TREE_RUN_DIGITS];
	int output; /* -1 once closed */
	ev_child reaper;
	ev_io readable;
	ev_timer drain;
	ev_timer patience; /* leaving: to KILL, then to stubborn */
	ev_prepare told; /* never started: carries the event of a failed start */
};

struct child_table {
	struct child *buckets[CHILD_BUCKETS]; /* by pid; without those that failed */
	unsigned int count; /* those that failed too */
};

extern struct child_table child_table;

struct child **child_bucket(pid_t pid);
void child_start_timer(struct child *child, ev_timer *timer, double after);

/* True if its pid may be another's by now: libev may have reaped it in this very pass. */
bool child_is_reaped(const struct child *child);
void child_note_reaped(struct child *child, int wait_status);
void child_destroy(struct child *child);

/* child_end.c: what is left of a child is ended; the child goes with the last of it. */
void child_end_setup(struct ev_loop *loop);
void child_end_start(struct child *child);

#endif
