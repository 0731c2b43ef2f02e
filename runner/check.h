/* SPDX-License-Identifier: MIT */
/* runner/check.h: one check at run time: from its ticks to its claims. */
#ifndef RUNNER_CHECK_H
#define RUNNER_CHECK_H

#include "runner/agent.h"
#include "runner/report.h"
#include "runner/run.h"
#include "runner/threshold.h"
#include "runner/watchdog.h"

/* What all checks share; the runner owns it and fills it. */
struct check_world {
	struct ev_loop *loop;
	struct agent *agent;
	struct settings *settings;
	const char *host; /* for the phase */
	double grid; /* s, see schedule_grid() */
	void (*dirty)(void *owner); /* the state file should be written soon */
	void *owner;
};

struct check;

/* conf lives in world->settings. Nothing runs before check_start. */
struct check *check_create(struct check_world *world, const struct check_conf *conf);
void check_destroy(struct check *check); /* cancels an open run; accepts NULL */

/*
 * Ties composed checks to those that they are made of, among all checks of the world's
 * settings; anew after each reload, before the loop goes on.
 */
void check_link_all(struct check *const *checks, size_t count);

/* Seeds the thresholds from the state file. Before check_start. */
void check_seed(struct check *check, const struct threshold_state *state);

/* Plans the first run; first says that it is the first check of all. */
void check_start(struct check *check, bool first);

/* The same check in a new configuration: counters, phase and an open run go on. */
void check_adopt(struct check *check, const struct check_conf *conf);

/*
 * A stall was noticed, before anything of the pass: no heartbeat until a newer result,
 * and freshness counts anew.
 */
void check_hold(struct check *check);

/*
 * After a stall that ended `ended` (monotonic): an open run from before it is void and
 * goes again, once; a next tick far away is brought near; freshness counts anew.
 */
void check_stalled(struct check *check, double ended);

/* No run starts any more; an open one is cancelled. For shutdown. */
void check_stop(struct check *check);

const struct check_conf *check_conf_of(const struct check *check);
const struct threshold_state *check_state(const struct check *check);
void check_report(const struct check *check, struct check_report *ret_report);

/* What is claimed; false before the first claim. */
bool check_claim(const struct check *check, enum probe_status *ret_status);

/* Notes when the open run, or the one that is due, is over at the latest. */
void check_watch(const struct check *check, struct watchdog *watchdog);

#endif
