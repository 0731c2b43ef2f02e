/* SPDX-License-Identifier: MIT */
/* runner/watchdog.h: whether the service manager may be told that we do our work. Pure. */
#ifndef RUNNER_WATCHDOG_H
#define RUNNER_WATCHDOG_H

#include <stdbool.h>

/*
 * What the loop has promised to end is noted, then the question is asked. That the loop turns at
 * all is shown by the question being asked. Times are monotonic: a machine that sleeps ages
 * nothing, neither here nor in the service manager.
 */
struct watchdog {
	double now;
	double stall_ended; /* of the last stall; 0: none */
	bool late; /* something noted is past its end */
};

/* Begun at `begun` (a moment still to come is fine), it is over within `allowance` seconds. */
void watchdog_note(struct watchdog *watchdog, double begun, double allowance);

/* True if nothing noted is late. */
bool watchdog_is_fed(const struct watchdog *watchdog);

#endif
