/* SPDX-License-Identifier: MIT */
/* runner/schedule.h: when a check runs next. Pure arithmetic on the monotonic clock, seconds. */
#ifndef RUNNER_SCHEDULE_H
#define RUNNER_SCHEDULE_H

#include <stdbool.h>

/*
 * The offset of a check's ticks in [0, interval): a hash of host and check id, so
 * that a fleet spreads and a restart finds the same ticks again.
 */
double schedule_phase(const char *host, const char *check_id, double interval);

/* The first tick after `after`: phase + k * interval for a whole k. */
double schedule_tick(double phase, double interval, double after);

/* How many ticks lie in (from, to]. */
unsigned long schedule_ticks_between(double phase, double interval, double from, double to);

/*
 * How fine wake-ups are: the smallest of 5, 10, 20 and 50 ms at which one serves 10
 * runs, given all runs in a second; else 50 ms.
 */
double schedule_grid(double runs_per_second);

/* When to wake for a tick: on the grid (at most interval / 20 wide), never before the tick. */
double schedule_wake(double tick, double grid, double interval);

/* What a check asks of its next run. */
struct schedule_ask {
	double phase, interval, retry_interval;
	double last_due; /* when the last run should have started */
	bool confirming; /* a change is waiting for its confirmation */
	bool retry_local; /* the last run was the first local failure of a row */
};

/* The local failure's second try: soon enough to matter, late enough for a shortage to pass. */
#define SCHEDULE_LOCAL_RETRY 1.0

/* When the next run is due, after `now`. */
double schedule_next(const struct schedule_ask *ask, double now);

/* How a start is spread over the first second: a fraction of it, from the phase. */
#define SCHEDULE_SPREAD 1.0

struct schedule_start {
	double phase, interval, ttl;
	bool was_passing; /* the state file says so: the old claim may stand a while */
	bool first; /* the first check of all: at once */
};

/* When the first run after a start at `now` is due. */
double schedule_first(const struct schedule_start *start, double now);

/* A place in the second after now that is the check's own. */
double schedule_soon(const struct schedule_start *start, double now);

/* When a run is due after a stall that ended `now`; `due` is what was planned. */
double schedule_after_stall(const struct schedule_start *start, double due, double now);

#endif
