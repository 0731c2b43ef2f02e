// SPDX-License-Identifier: MIT
/* One check in the catalog, against what the agent was told of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "runner/agent_calls.h"
#include "runner/log.h"

/* A status is in the catalog before its call is answered; this is for busy servers. */
#define STATUS_SETTLES 10.0
/* An output that changed alone goes there within 1.5 of the agent's check_update_interval, 5m. */
#define OUTPUT_SETTLES 600.0
#define CUT_MARK " ... (captured " /* an agent may be set to keep less than we send */

void agent_echo_finish(struct agent_check *check)
{
	free(check->echo.problem);
	check->echo = (struct agent_echo){0};
}

void agent_echo_told(struct agent_check *check)
{
	const struct publish_slot *slot = &check->slot;
	struct agent_echo *echo = &check->echo;
	bool first = echo->status_at <= 0;

	if (first || echo->status != slot->sent_status)
		echo->status_at = slot->sent_at;
	if (first || echo->version != slot->sent_version)
		echo->output_at = slot->sent_at;
	echo->status = slot->sent_status;
	echo->version = slot->sent_version;
}

/*
 * The status that the agent holds is for certain the one it should: nothing is on its way,
 * and the TTL has not run out. An output may be: it waits for heartbeats.
 */
static bool is_settled(const struct agent_check *check)
{
	const struct agent *agent = check->agent;
	const struct publish_slot *slot = &check->slot;
	double settles = fmin(STATUS_SETTLES, agent->settings->consul.read_back / 2);

	return check->presence == PRESENCE_OURS && check->trouble == TROUBLE_NONE &&
		check->task.call == NULL && slot->acknowledged && !slot->doubt &&
		slot->acknowledged_status == slot->status && check->echo.status_at > 0 &&
		check->echo.status_at + settles < agent->readback.started &&
		slot->renewed_at + slot->ttl > agent->readback.started;
}

static const char *text_of(const json_t *entry, const char *key)
{
	const char *text = json_string_value(json_object_get(entry, key));

	return text == NULL ? "" : text;
}

static bool has_other_output(const struct agent_check *check, const char *output)
{
	/* None at all: the agent may be told to discard it. */
	return publish_is_acknowledged(&check->slot) &&
		check->echo.output_at + OUTPUT_SETTLES < check->agent->readback.started &&
		*output != '\0' && strstr(output, CUT_MARK) == NULL &&
		strcmp(output, check->slot.output) != 0;
}

static enum agent_finding find(struct agent_check *check, const json_t *entry)
{
	struct agent_echo *echo = &check->echo;
	long long index = json_integer_value(json_object_get(entry, "ModifyIndex"));
	bool same = index == echo->index;

	if (entry == NULL)
		return FINDING_ABSENT;
	if (strcmp(text_of(entry, "Status"), status_name(echo->status)) != 0) {
		echo->index = index;
		return same ? FINDING_FROZEN : FINDING_WRITER;
	}
	return has_other_output(check, text_of(entry, "Output")) ? FINDING_OUTPUT : FINDING_NONE;
}

/* Stable: the same words as long as the same is found. */
static char *describe(const struct agent_check *check, const json_t *entry)
{
	const char *told = status_name(check->echo.status);

	switch (check->echo.finding) {
	case FINDING_NONE:
		break;
	case FINDING_ABSENT:
		return xstrdup("the catalog does not have this check, which the agent has");
	case FINDING_FROZEN:
		return xprintf("the catalog stays %s, though the agent was told %s",
			text_of(entry, "Status"), told);
	case FINDING_WRITER:
		return xprintf("another writer: the catalog says %s, which was not sent; the agent "
			       "was told %s",
			text_of(entry, "Status"), told);
	case FINDING_OUTPUT:
		return xstrdup("another writer: the catalog has an output that was not sent");
	}
	return xstrdup("");
}

static void say(struct agent_check *check, const json_t *entry)
{
	char *problem = describe(check, entry);

	agent_set_text(&check->echo.problem, problem);
	log_warning("%s: %s", check->conf->id, problem);
	free(problem);
}

void agent_echo_judge(struct agent_check *check, const json_t *entry)
{
	struct agent_echo *echo = &check->echo;
	enum agent_finding finding;

	if (!is_settled(check))
		return;
	finding = find(check, entry);
	if (finding != FINDING_NONE)
		echo->finding = finding;
	switch (sighting_note(&echo->sighting, finding != FINDING_NONE)) {
	case SIGHTING_THERE:
		say(check, entry);
		break;
	case SIGHTING_GONE:
		agent_set_text(&echo->problem, NULL);
		log_notice("%s: the catalog has what the agent was told again", check->conf->id);
		break;
	case SIGHTING_NO_NEWS:
		break;
	}
	/* The agent syncs with the token of the registration: that may be what is wrong. */
	if (echo->sighting.there && (finding == FINDING_ABSENT || finding == FINDING_FROZEN)) {
		check->definition++;
		publish_forget(&check->slot);
		agent_check_arm(check);
	}
}
