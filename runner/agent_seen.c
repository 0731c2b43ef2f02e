// SPDX-License-Identifier: MIT
/* Where a check stands on the agent, and what is said when it does not stand well. */
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "runner/agent_calls.h"
#include "runner/log.h"

#define CLASH_TEXT "the agent has a check of this id that is not ours"

/* Said for the first check of an episode, with its cause. */
static void say_entered(const struct agent_check *check, const char *problem)
{
	struct agent *agent = check->agent;

	switch (check->trouble) {
	case TROUBLE_LOST:
		if (!agent->lost_said)
			log_warning("%s: the agent does not have this check (%s); it and others "
				    "that are missing are registered again",
				check->conf->id, problem);
		agent->lost_said = true;
		break;
	case TROUBLE_REFUSED:
		log_warning("%s: the agent refuses: %s; tried again at growing intervals up to 30s",
			check->conf->id, problem);
		break;
	default:
		break;
	}
}

void agent_say_found(struct agent *agent)
{
	/* Nobody puts these back: that was said. */
	agent->lost_said = agent->lost_said && agent->troubled[TROUBLE_REAPED] == 0;
	/* An inventory that is yet to come may show more that are missing. */
	if (!agent->lost_said || agent->troubled[TROUBLE_LOST] > 0 ||
		agent->inventory.call != NULL || agent->inventory.state != TASK_IDLE)
		return;
	agent->lost_said = false;
	log_notice("consul: the agent has all checks again");
}

void agent_check_trouble(struct agent_check *check, enum agent_trouble trouble, const char *problem)
{
	enum agent_trouble before = check->trouble;
	size_t *troubled = check->agent->troubled;

	agent_set_text(&check->problem, problem);
	if (trouble == before)
		return;
	check->trouble = trouble;
	troubled[before]--;
	troubled[trouble]++;
	if (trouble == TROUBLE_CLASH)
		log_warning("%s: %s: it is left alone, and nothing is published; deregister it, "
			    "choose another id or say 'take_over: true'",
			check->conf->id, problem);
	else if (before == TROUBLE_CLASH)
		log_notice("%s: the id is free for our check", check->conf->id);
	if (troubled[trouble] == 1)
		say_entered(check, problem);
	if (before == TROUBLE_REFUSED && troubled[before] == 0 && trouble == TROUBLE_NONE)
		log_notice("consul: the agent refuses no check any more");
	agent_say_found(check->agent);
}

/* The next claim replaces it: nothing is taken away before there is something to say. */
static void take_over(struct agent_check *check, const char *type)
{
	bool is_ttl = strcmp(type, "ttl") == 0;

	if (check->evict) /* and said */
		return;
	log_notice("%s: the agent has a check of this id that is not ours (type %s); it is taken "
		   "over",
		check->conf->id, type);
	/* Registered over another type, a TTL check would share its id with the old monitor. */
	check->evict = !is_ttl;
	check->presence = is_ttl ? PRESENCE_OURS : PRESENCE_ABSENT;
	check->at_once = false;
	check->known_definition = 0;
	check->look = false;
	publish_forget(&check->slot);
	agent_check_trouble(check, TROUBLE_NONE, NULL);
}

static void set_clash(struct agent_check *check, const char *type)
{
	char *problem;

	if (*type == '\0')
		type = "unknown";
	if (check->conf->take_over) {
		take_over(check, type);
		return;
	}
	problem = xprintf("%s (type %s)", CLASH_TEXT, type);
	check->presence = PRESENCE_CLASH;
	check->look = true;
	/* Soon at first: it may be on its way from one daemon of ours to the other. */
	check->look_at = agent_now().monotonic + agent_back_off(&check->delay);
	agent_check_trouble(check, TROUBLE_CLASH, problem);
	free(problem);
}

/* It was there, or an update said that it should be. */
static void set_lost(struct agent_check *check, const char *cause)
{
	check->presence = PRESENCE_ABSENT;
	check->known_definition = 0;
	publish_forget(&check->slot);
	if (check->service != NULL && check->service->reaped)
		agent_check_trouble(check, TROUBLE_REAPED, check->service->problem);
	else
		agent_check_trouble(check, TROUBLE_LOST, cause);
	if (check->service != NULL)
		agent_service_set(check->service, SERVICE_LOOK, agent_now().monotonic);
}

/* What was there under our id is not a stranger's any more: it is not waited for. */
static void leave_clash(struct agent_check *check)
{
	if (check->presence != PRESENCE_CLASH)
		return;
	check->look = false;
	check->delay = 0;
}

static void set_absent(struct agent_check *check)
{
	leave_clash(check);
	check->evict = false;
	check->was_absent = true;
	check->presence = PRESENCE_ABSENT;
	if (check->trouble == TROUBLE_CLASH)
		agent_check_trouble(check, TROUBLE_NONE, NULL);
}

static void set_ours(struct agent_check *check)
{
	leave_clash(check);
	check->evict = false;
	check->presence = PRESENCE_OURS;
	check->at_once = false;
	if (check->trouble == TROUBLE_CLASH)
		agent_check_trouble(check, TROUBLE_NONE, NULL);
}

static void look_lost(struct agent_check *check, const char *cause)
{
	struct agent *agent = check->agent;

	/* Others that are lost with the first one would notice only with their own next call. */
	if (agent->troubled[TROUBLE_LOST] == 0 && agent->taken_at < check->sent_at)
		agent_inventory_take(agent);
	set_lost(check, cause);
}

/* The look after an update that the agent could not place, or at a clash. */
void agent_check_look(struct agent_check *check, const json_t *checks)
{
	struct agent *agent = check->agent;
	char *doubt = check->doubt;
	enum register_presence before = check->presence;
	enum register_presence seen =
		register_look(checks, check->conf->id, agent->settings->instance);

	check->doubt = NULL;
	/* There, and was so when the update was refused: then the agent fails as with any 5xx. */
	if (doubt != NULL && seen == PRESENCE_OURS && check->known_at <= check->doubted_at)
		agent_failed(agent, doubt);
	else
		agent_well(agent);
	if (seen == PRESENCE_OURS)
		set_ours(check);
	else if (seen == PRESENCE_CLASH)
		set_clash(check, register_type(checks, check->conf->id));
	else if (before == PRESENCE_OURS)
		look_lost(check, doubt == NULL ? "it is not listed" : doubt);
	else
		set_absent(check);
	free(doubt);
}

void agent_check_seen(struct agent_check *check, const json_t *checks)
{
	enum register_presence seen =
		register_look(checks, check->conf->id, check->agent->settings->instance);

	/* A call that came after the list was asked for knows better. */
	if (check->task.call != NULL || check->known_at >= check->agent->taken_at)
		return;
	if (seen == PRESENCE_OURS)
		set_ours(check);
	else if (seen == PRESENCE_CLASH)
		set_clash(check, register_type(checks, check->conf->id));
	else if (check->presence == PRESENCE_OURS)
		set_lost(check, "it is not listed");
	else
		set_absent(check);
	agent_check_urge(check);
}

void agent_check_urge(struct agent_check *check)
{
	const struct agent_service *service = check->service;

	if (check->presence == PRESENCE_ABSENT && !check->evict && service != NULL &&
		service->there && service->counted && service->check_count == 0)
		check->at_once = true;
}

void agent_check_registered(struct agent_check *check)
{
	check->known_definition = check->sent_definition;
	check->known_at = agent_now().monotonic;
	if (check->presence == PRESENCE_ABSENT) {
		check->critical_at = 0; /* a new one, whose time begins with an update */
		if (check->service != NULL)
			check->service->check_count++;
	}
	/* A registration says nothing of a check that was there, and no output of any. */
	publish_forget(&check->slot);
	set_ours(check);
}
