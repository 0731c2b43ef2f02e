/* SPDX-License-Identifier: MIT */
/* runner/publish.h: what to tell the agent of one check, and when. Pure: no socket, no clock. */
#ifndef RUNNER_PUBLISH_H
#define RUNNER_PUBLISH_H

#include <stdbool.h>

#include "probes/outcome.h"

#define PUBLISH_NEVER 1e300 /* s: a time that does not come */

/* The moment of an event. Seconds. */
struct publish_now {
	double monotonic;
	double boot; /* CLOCK_BOOTTIME: freshness runs on in suspend */
};

/*
 * One check: what the runner wants said against what the agent acknowledged. The
 * newest claim replaces an unsent one; one call is in flight. Members are private
 * to publish.c, but for reading.
 */
struct publish_slot {
	double ttl;

	char *output; /* of the newest claim; owned */
	enum probe_status status;
	double fresh_until; /* boot */
	bool wanted; /* there is a claim */
	bool held, stopping;
	unsigned long version; /* of status and output together */
	double output_changed_at; /* since when the acknowledged output is old */
	double not_before;

	bool in_flight;
	enum probe_status sent_status;
	unsigned long sent_version;
	double sent_at;

	bool acknowledged; /* acknowledged_status and _version are what the agent holds */
	enum probe_status acknowledged_status;
	unsigned long acknowledged_version;
	double renewed_at; /* sending time of the last accepted call */

	bool doubt; /* an abandoned call may still be applied */
	double confirm_at; /* the provisional acknowledgement counts from then; 0: none yet */
};

enum publish_kind {
	PUBLISH_NOTHING, /* until an event */
	PUBLISH_CHANGE, /* goes before heartbeats */
	PUBLISH_HEARTBEAT,
};

struct publish_step {
	enum publish_kind kind;
	double at; /* monotonic; PUBLISH_NEVER with NOTHING; in the past means now */
};

enum publish_answer {
	PUBLISH_ACCEPTED,
	PUBLISH_REFUSED, /* not applied: never sent, or answered with an error */
	PUBLISH_ABANDONED, /* sent and then timed out, reset or cut: may be applied late */
};

void publish_init(struct publish_slot *slot, double ttl);
void publish_finish(struct publish_slot *slot); /* frees what it owns */

/* The newest claim; output is copied. Ends a hold. */
void publish_want(struct publish_slot *slot, enum probe_status status, const char *output,
	double fresh_until, struct publish_now now);

/* Nothing is sent until the next publish_want. */
void publish_hold(struct publish_slot *slot);

/* Nothing is due before `until` (monotonic): the floor after a refusal. */
void publish_delay(struct publish_slot *slot, double until);

/* What was acknowledged no longer holds: the claim is sent again, as a change. */
void publish_forget(struct publish_slot *slot);

/* From now on only unacknowledged claims that are not passing are sent. */
void publish_stop(struct publish_slot *slot);

struct publish_step publish_next(const struct publish_slot *slot, struct publish_now now);

/* The claim as it stands goes out; then its answer. */
void publish_sent(struct publish_slot *slot, struct publish_now now);
void publish_answered(
	struct publish_slot *slot, enum publish_answer answer, struct publish_now now);

/* The newest claim is what the agent holds, for certain. */
bool publish_is_acknowledged(const struct publish_slot *slot);

/* There is a claim that may be told to an agent which knows nothing yet, in flight or not. */
bool publish_may_claim(const struct publish_slot *slot, struct publish_now now);

#endif
