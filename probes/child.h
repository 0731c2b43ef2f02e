/* SPDX-License-Identifier: MIT */
/* probes/child.h: spawn, capture, kill trees. The only file that forks. */
#ifndef PROBES_CHILD_H
#define PROBES_CHILD_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

struct remains;

struct child_limit {
	int resource; /* RLIMIT_... */
	rlim_t soft, hard;
};

/* Everything is prepared by the caller, since the child makes raw system calls only. */
struct child_spec {
	const char *path; /* absolute: looked up and checked already */
	const char *const *argv;
	const char *const *envp; /* PROBITY_RUN is added by child.c */
	const char *cwd; /* NULL: "/" */
	bool set_ids; /* change to uid, gid and groups */
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	size_t group_count;
	mode_t umask;
	bool no_new_privs;
	bool set_nice;
	int nice; /* from -20 to 19, whatever ours is */
	int input; /* standard input, stays the caller's; 0: /dev/null */
	double kill_grace; /* s between TERM and KILL */
	const struct child_limit *limits;
	size_t limit_count;
};

/* How a child ended. */
enum child_end {
	CHILD_EXITED, /* value is the exit code */
	CHILD_KILLED, /* value is the signal */
};

struct child_events {
	/* Standard output and error in the order written. Must not release the child. */
	void (*output)(void *owner, const void *bytes, size_t length);

	/* The verdict: reaped, and its pipes drained for at most 250 ms. At most once. */
	void (*ended)(void *owner, enum child_end end, int value);

	/*
	 * It could not be started: step is what failed ("execve", "setgid", "fork"),
	 * error its errno. At most once, in place of ended.
	 */
	void (*failed)(void *owner, const char *step, int error);
	void *owner;
};

struct child;

/*
 * Once, before anything else: child subreaper, no signal blocked, SIGPIPE ignored here
 * (children get the defaults back), descriptors 0 to 2 open, the original RLIMIT_NOFILE remembered
 * for them. loop is the default loop, the only one that watches children. 0 or negative errno.
 */
int child_setup(struct ev_loop *loop);

/*
 * Starts a child; no event comes from inside this call. The spec is used during the call
 * only. remains may be NULL.
 */
struct child *child_start(struct ev_loop *loop, const struct child_spec *spec,
	const struct child_events *events, struct remains *remains);

/*
 * The owner's deadline has come. If the child has been reaped and only its output is
 * waited for, that is over: ended is called now, from inside this call.
 */
void child_expire(struct child *child);

/*
 * The owner is done with it: no event from now on. What still lives is ended (TERM to
 * the tree, KILL after kill_grace; after a normal exit KILL at once to what it left),
 * counted in remains until it is gone. Accepts NULL.
 */
void child_release(struct child *child);

/* At exit, all children released: KILL to all that is left. Waits, at most `seconds`, until it
 * is gone. */
void child_finish(double seconds);

/* Children and trees not yet gone, for tests and status. */
unsigned int child_count(void);

#endif
