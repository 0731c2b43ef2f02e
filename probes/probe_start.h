/* SPDX-License-Identifier: MIT */
/* probes/probe_start.h: the runner's side of a run: start, deadline, end. */
#ifndef PROBES_PROBE_START_H
#define PROBES_PROBE_START_H

#include "probes/probe.h"

struct probe_setup {
	const struct probe_type *type;
	const void *conf; /* type->conf.size bytes; outlives the run */
	struct ev_loop *loop;
	struct outcome *outcome; /* all zero; outlives the run */
	struct remains *remains; /* of the check: what its runs leave behind */
	double timeout; /* s; the runner keeps it, a probe may only look */

	/* The run has finished. Called from the loop, never from inside a probe's code. */
	void (*finished)(void *owner);
	void *owner;
};

/* Makes and starts a run; *setup is copied. The caller destroys it, finished or not. */
struct probe *probe_start(const struct probe_setup *setup);

/*
 * The deadline has come: true if the run has its own verdict by now (outcome->ended is
 * set, and finished() will not be called); else the caller judges it.
 */
bool probe_expire(struct probe *probe);

/* Cancels the run if it has not finished, lets go of everything, frees. Accepts NULL. */
void probe_destroy(struct probe *probe);

#endif
