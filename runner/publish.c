// SPDX-License-Identifier: MIT
/* Desired against acknowledged state of one check: newest wins, one call in flight. */
#include "runner/publish.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"

#define HEARTBEATS_PER_TTL 3.0 /* two may be lost before the agent's TTL runs out */
#define OUTPUT_DELAY 10.0 /* s: outputs that differ each run must not be a call each */
#define CONFIRM_DELAY 1.0 /* s: abandoned calls are applied as soon as the agent moves again */

static const struct publish_step nothing = {.kind = PUBLISH_NOTHING, .at = PUBLISH_NEVER};

void publish_init(struct publish_slot *slot, double ttl)
{
	*slot = (struct publish_slot){.ttl = ttl};
}

void publish_finish(struct publish_slot *slot)
{
	free(slot->output);
	slot->output = NULL;
}

void publish_want(struct publish_slot *slot, enum probe_status status, const char *output,
	double fresh_until, struct publish_now now)
{
	bool same_output = slot->wanted && strcmp(slot->output, output) == 0;

	if (!same_output) {
		free(slot->output);
		slot->output = xstrdup(output);
	}
	if (!same_output || slot->status != status) {
		/* Counted from the first that differs: an output that changes with each
		 * claim is not put off for ever. */
		if (slot->version == slot->acknowledged_version)
			slot->output_changed_at = now.monotonic;
		slot->version++;
	}
	slot->status = status;
	slot->fresh_until = fresh_until;
	slot->wanted = true;
	slot->held = false;
}

void publish_hold(struct publish_slot *slot)
{
	slot->held = true;
}

void publish_delay(struct publish_slot *slot, double until)
{
	slot->not_before = until;
}

void publish_forget(struct publish_slot *slot)
{
	slot->acknowledged = false;
}

void publish_stop(struct publish_slot *slot)
{
	slot->stopping = true;
}

bool publish_is_acknowledged(const struct publish_slot *slot)
{
	return slot->wanted && slot->acknowledged && !slot->doubt &&
		slot->acknowledged_version == slot->version;
}

static bool is_stale(const struct publish_slot *slot, struct publish_now now)
{
	return now.boot > slot->fresh_until;
}

bool publish_may_claim(const struct publish_slot *slot, struct publish_now now)
{
	return slot->wanted && !slot->held &&
		(slot->status == PROBE_CRITICAL || !is_stale(slot, now));
}

/* The agent holds another status, or none, or one that an abandoned call may replace. */
static bool is_change(const struct publish_slot *slot)
{
	return !slot->acknowledged || slot->acknowledged_status != slot->status ||
		(slot->doubt && slot->confirm_at <= 0);
}

static struct publish_step due(const struct publish_slot *slot, enum publish_kind kind, double at)
{
	return (struct publish_step){
		.kind = kind, .at = at > slot->not_before ? at : slot->not_before};
}

struct publish_step publish_next(const struct publish_slot *slot, struct publish_now now)
{
	bool stale = is_stale(slot, now);
	double heartbeat_at = slot->renewed_at + slot->ttl / HEARTBEATS_PER_TTL;

	if (!publish_may_claim(slot, now) || slot->in_flight)
		return nothing;
	if (slot->stopping && slot->status == PROBE_PASSING)
		return nothing;
	if (is_change(slot))
		return due(slot, PUBLISH_CHANGE, 0);
	if (slot->doubt)
		return due(slot, PUBLISH_HEARTBEAT, slot->confirm_at);
	if (stale || slot->stopping)
		return nothing;
	if (slot->acknowledged_version != slot->version &&
		slot->output_changed_at + OUTPUT_DELAY < heartbeat_at)
		return due(slot, PUBLISH_HEARTBEAT, slot->output_changed_at + OUTPUT_DELAY);
	return due(slot, PUBLISH_HEARTBEAT, heartbeat_at);
}

void publish_sent(struct publish_slot *slot, struct publish_now now)
{
	assert(slot->wanted && !slot->in_flight);
	slot->in_flight = true;
	slot->sent_status = slot->status;
	slot->sent_version = slot->version;
	slot->sent_at = now.monotonic;
}

void publish_answered(struct publish_slot *slot, enum publish_answer answer, struct publish_now now)
{
	assert(slot->in_flight);
	slot->in_flight = false;
	if (answer == PUBLISH_ABANDONED) {
		slot->doubt = true;
		slot->confirm_at = 0;
	}
	if (answer != PUBLISH_ACCEPTED)
		return;
	slot->acknowledged = true;
	slot->acknowledged_status = slot->sent_status;
	slot->acknowledged_version = slot->sent_version;
	slot->renewed_at = slot->sent_at;
	slot->output_changed_at = now.monotonic;
	slot->not_before = 0;
	if (!slot->doubt)
		return;
	if (slot->confirm_at <= 0)
		slot->confirm_at = now.monotonic + CONFIRM_DELAY;
	else if (slot->sent_at >= slot->confirm_at)
		slot->doubt = false;
}
