// SPDX-License-Identifier: MIT
/* Deadlines of the loop itself, as the service manager's watchdog is told of them. */
#include "runner/watchdog.h"

/* s: what a busy loop may be late with a deadline. A late pass is a stall from 0.5 s on. */
#define GRACE 1.0

void watchdog_note(struct watchdog *watchdog, double begun, double allowance)
{
	/*
	 * What a stall has cut through ends in the passes after it. Its time is not ours:
	 * a machine that stands still again and again must not have us killed as well.
	 */
	double since = begun > watchdog->stall_ended ? begun : watchdog->stall_ended;

	if (watchdog->now > since + allowance + GRACE)
		watchdog->late = true;
}

bool watchdog_is_fed(const struct watchdog *watchdog)
{
	return !watchdog->late;
}
