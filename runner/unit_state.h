/* SPDX-License-Identifier: MIT */
/* runner/unit_state.h: asks systemd over D-Bus what becomes of units; never blocks. */
#ifndef RUNNER_UNIT_STATE_H
#define RUNNER_UNIT_STATE_H

#include <ev.h>
#include <stdbool.h>

/* What systemd says of one unit, in its own words: ListUnitsByNames of its D-Bus interface. */
struct unit_state {
	const char *name; /* "web.service" */
	const char *load; /* "loaded", "not-found", … */
	const char *active; /* "active", "inactive", "failed", "deactivating", … */
	const char *job; /* "stop", "start", …; "" for none */
};

/* True if the unit has stopped, is stopping or is about to. One that nobody knows has not. Pure. */
bool unit_state_is_stopped(const struct unit_state *state);

struct unit_asker {
	struct ev_loop *loop;
	double seconds; /* most, for everything */

	/* Of each unit that systemd knows a name of; state is borrowed for the call. */
	void (*answer)(void *owner, const struct unit_state *state);

	/* Once, after them, from the loop: problem is NULL if systemd answered. */
	void (*done)(void *owner, const char *problem);
	void *owner;
};

struct unit_question;

/* names ends with NULL. Neither callback comes from inside this call; after done it is gone. */
struct unit_question *unit_state_ask(const struct unit_asker *asker, const char *const *names);

/* No callback comes any more. Accepts NULL. */
void unit_state_cancel(struct unit_question *question);

#endif
