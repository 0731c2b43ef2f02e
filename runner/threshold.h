/* SPDX-License-Identifier: MIT */
/* runner/threshold.h: (state, result) -> (state, status). Pure. */
#ifndef RUNNER_THRESHOLD_H
#define RUNNER_THRESHOLD_H

#include <stdbool.h>

#include "probes/outcome.h"

/* Consul's names: N is the N-th result in a row; warning <= critical; all at least 1. */
struct threshold_conf {
	unsigned int success_before_passing;
	unsigned int failures_before_warning;
	unsigned int failures_before_critical;
};

/*
 * A struct of zeroes knows nothing. The counters stop at their thresholds, so
 * that a check in a steady state has a steady state.
 */
struct threshold_state {
	bool decided; /* a threshold was met by this process: status may be claimed */
	bool has_status; /* status means something (decided, or seeded by a state file) */
	enum probe_status status;
	unsigned int successes; /* in a row; passing and warning count */
	unsigned int failures; /* in a row */
	bool local_row; /* the last result was a local failure */
};

/* What one result did. */
enum threshold_effect {
	THRESHOLD_STANDS, /* the result agrees with the status, which may have changed to it */
	THRESHOLD_UNCONFIRMED, /* the last status stands, or there is none: not enough in a row yet
				*/
	THRESHOLD_IGNORED, /* the first local failure of a row: counters untouched */
};

/*
 * Applies one result. local says that the failure is this machine's own. A check
 * that was seeded is decided by its counters: old failures are not forgiven by a
 * restart, and an old success needs one new one.
 */
enum threshold_effect threshold_apply(const struct threshold_conf *conf,
	struct threshold_state *state, enum probe_status result, bool local);

/* For the state file: true if nothing worth keeping differs. */
bool threshold_same(const struct threshold_state *a, const struct threshold_state *b);

#endif
