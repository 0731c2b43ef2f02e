/* SPDX-License-Identifier: MIT */
/* probes/probe_watch.h: what a type watches between runs is told, and whom it wakes. */
#ifndef PROBES_PROBE_WATCH_H
#define PROBES_PROBE_WATCH_H

#include <ev.h>

/* What is watched between the runs of a check, for whom. */
struct probe_watch_setup {
	const void *conf; /* outlives the watch */
	struct ev_loop *loop;
	const char *name; /* of the check, for notices; outlives the watch */

	/*
	 * A run now might say something else than the last one. As often as wanted, from
	 * anywhere but watch_start(): the runner decides whether and when.
	 */
	void (*wake)(void *owner);
	void *owner;
};

#endif
