// SPDX-License-Identifier: MIT
/* What checks the agent has: those of ours that it lacks, and those with our mark that we lack. */
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "runner/agent_calls.h"
#include "runner/log.h"

#define PACE 1.0 /* s between two inventories: the answer of a large agent is megabytes */
#define PATIENCE 1.0 /* s between two looks whether the check that replaces an old one is there */

/* A check on the agent with our mark that the configuration does not have. */
struct agent_leftover {
	struct agent_task task; /* first: deregisters it */
	struct agent *agent;
	char *id;
	char *service_id; /* "" for a node check */
	bool alone; /* no other check of its service stays on the agent */
	struct agent_leftover *next;
};

static struct agent_service *find_service(const struct agent *agent, const char *id)
{
	const struct service_conf conf = {.id = id};
	const struct agent_service key = {.conf = &conf};
	const struct agent_service *wanted = &key;
	struct agent_service **found = agent->service_count == 0
		? NULL
		: bsearch(&wanted, agent->services, agent->service_count,
			  sizeof(struct agent_service *), agent_compare_service);

	return found == NULL ? NULL : *found;
}

/* The leftover is in no list any more. */
static void free_leftover(struct agent_leftover *leftover)
{
	(void)agent_task_finish(&leftover->task);
	free(leftover->id);
	free(leftover->service_id);
	free(leftover);
}

static void destroy_leftover(struct agent_leftover *leftover)
{
	struct agent_leftover **link = &leftover->agent->leftovers;

	while (*link != leftover)
		link = &(*link)->next;
	*link = leftover->next;
	free_leftover(leftover);
}

static bool same_group(const struct agent_check *check, const char *service_id)
{
	return strcmp(check->service == NULL ? "" : check->service->conf->id, service_id) == 0;
}

/* A renamed check's old id stands until the new one is acknowledged. */
static bool is_needed(const struct agent_leftover *leftover)
{
	for (size_t i = 0; i < leftover->agent->check_count; i++) {
		const struct agent_check *check = leftover->agent->checks[i];

		if (same_group(check, leftover->service_id) && check->was_absent &&
			check->acknowledged_at <= 0 && check->trouble == TROUBLE_NONE)
			return true;
	}
	return false;
}

/* True if the service is left without any check, and so counts as passing. */
static bool is_last(const struct agent_leftover *leftover)
{
	if (!leftover->alone || *leftover->service_id == '\0')
		return false;
	for (size_t i = 0; i < leftover->agent->check_count; i++) {
		const struct agent_check *check = leftover->agent->checks[i];

		if (same_group(check, leftover->service_id) && check->presence == PRESENCE_OURS)
			return false;
	}
	return true;
}

static void on_deregistered(void *owner, const struct consul_answer *answer)
{
	struct agent_leftover *leftover = owner;
	struct agent *agent = leftover->agent;

	switch (agent_judge(agent, &leftover->task, answer, true)) {
	case VERDICT_DONE:
		if (is_last(leftover))
			log_warning("%s: deregistered, as it left the configuration; service %s "
				    "has no check any more and counts as passing",
				leftover->id, leftover->service_id);
		else
			log_notice("%s: deregistered, as it left the configuration", leftover->id);
		destroy_leftover(leftover);
		break;
	case VERDICT_FAILED:
		agent_task_due(&leftover->task, 0, TURN_ORDINARY);
		break;
	case VERDICT_UNKNOWN: /* 404: gone already, say newer agents */
	case VERDICT_REFUSED:
		if (answer->result == CONSUL_FAILED)
			agent_failed(agent, answer->cause);
		else
			agent_well(agent);
		if (answer->result != CONSUL_NOT_FOUND)
			log_warning("%s: left the configuration, but cannot be deregistered: %s",
				leftover->id, answer->cause);
		destroy_leftover(leftover); /* the next inventory finds it again */
		break;
	}
	agent_queue_run(&agent->queue);
}

static void run_leftover(struct agent_task *task)
{
	struct agent_leftover *leftover = (struct agent_leftover *)task;
	const struct consul_reply reply = {.done = on_deregistered, .owner = leftover};

	if (is_needed(leftover)) {
		agent_task_due(task, agent_now().monotonic + PATIENCE, TURN_ORDINARY);
		return;
	}
	agent_task_called(
		task, consul_check_deregister(leftover->agent->consul, leftover->id, reply));
}

static void add_leftover(struct agent *agent, const char *id, const char *service_id)
{
	struct agent_leftover *leftover = agent->leftovers;

	while (leftover != NULL && strcmp(leftover->id, id) != 0)
		leftover = leftover->next;
	if (leftover != NULL)
		return;
	leftover = xcalloc(1, sizeof(*leftover));
	leftover->agent = agent;
	leftover->id = xstrdup(id);
	leftover->service_id = xstrdup(service_id);
	agent_task_init(&leftover->task, &agent->queue, run_leftover);
	leftover->next = agent->leftovers;
	agent->leftovers = leftover;
	agent_task_due(&leftover->task, agent_now().monotonic + PATIENCE / 10, TURN_ORDINARY);
}

static const char *text_of(json_t *check, const char *key)
{
	const char *text = json_string_value(json_object_get(check, key));

	return text == NULL ? "" : text;
}

/* Marked as ours, and not configured. */
static bool is_leftover(struct agent *agent, const char *id, json_t *check)
{
	return register_is_marked(text_of(check, "Notes"), agent->settings->instance) &&
		agent_find(agent, id) == NULL;
}

/* Counts each service's checks; finds leftovers, and whether one's service keeps others. */
static void count(struct agent *agent, json_t *checks)
{
	json_t *check, *staying = json_object();
	const char *id;

	for (size_t i = 0; i < agent->service_count; i++) {
		struct agent_service *service = agent->services[i];

		service->check_count = 0;
		service->counted = agent->taken_at >= service->uncounted_since;
	}
	json_object_foreach (checks, id, check) {
		struct agent_service *service = find_service(agent, text_of(check, "ServiceID"));

		if (service != NULL)
			service->check_count++;
		if (is_leftover(agent, id, check))
			add_leftover(agent, id, text_of(check, "ServiceID"));
		else
			(void)json_object_set_new(
				staying, text_of(check, "ServiceID"), json_true());
	}
	for (struct agent_leftover *each = agent->leftovers; each != NULL; each = each->next)
		each->alone = json_object_get(staying, each->service_id) == NULL;
	json_decref(staying);
}

static void on_taken(void *owner, const struct consul_answer *answer)
{
	struct agent *agent = owner;
	double now = agent_now().monotonic;

	switch (agent_judge(agent, &agent->inventory, answer, true)) {
	case VERDICT_DONE:
		agent->inventory_delay = 0;
		agent->taken = true;
		agent_set_text(&agent->problem, NULL);
		count(agent, answer->json);
		for (size_t i = 0; i < agent->check_count; i++)
			agent_check_seen(agent->checks[i], answer->json);
		for (size_t i = 0; i < agent->service_count; i++)
			agent_service_arm(agent->services[i]);
		for (size_t i = 0; i < agent->check_count; i++)
			agent_check_arm(agent->checks[i]);
		break;
	case VERDICT_REFUSED:
		if (agent->inventory_delay <= 0)
			log_warning("consul: the agent at %s refuses to list its checks: %s; "
				    "tried again at growing intervals up to 30s",
				consul_address(agent->consul), answer->cause);
		agent_set_text(&agent->problem, answer->cause);
		agent_task_due(&agent->inventory, now + agent_back_off(&agent->inventory_delay),
			TURN_URGENT);
		break;
	case VERDICT_UNKNOWN:
		agent_failed(agent, answer->cause);
		agent_task_due(&agent->inventory, 0, TURN_URGENT);
		break;
	case VERDICT_FAILED:
		agent_task_due(&agent->inventory, 0, TURN_URGENT);
		break;
	}
	if (agent->take_again && agent->inventory.state == TASK_IDLE)
		agent_inventory_take(agent);
	agent_say_found(agent);
	agent_queue_run(&agent->queue);
}

static void run(struct agent_task *task)
{
	struct agent *agent = (struct agent *)task;
	const struct consul_reply reply = {.done = on_taken, .owner = agent};

	agent->take_again = false;
	agent->taken_at = agent_now().monotonic;
	agent_task_called(task, consul_checks_get(agent->consul, NULL, reply));
}

void agent_inventory_follow(struct agent *agent)
{
	struct agent_leftover *leftover = agent->leftovers;

	while (leftover != NULL) {
		struct agent_leftover *next = leftover->next;

		if (agent_find(agent, leftover->id) != NULL)
			destroy_leftover(leftover);
		leftover = next;
	}
}

void agent_inventory_finish(struct agent *agent)
{
	(void)agent_task_finish(&agent->inventory);
	while (agent->leftovers != NULL) {
		struct agent_leftover *leftover = agent->leftovers;

		agent->leftovers = leftover->next;
		free_leftover(leftover);
	}
}

void agent_inventory_init(struct agent *agent)
{
	agent_task_init(&agent->inventory, &agent->queue, run);
}

void agent_inventory_take(struct agent *agent)
{
	if (agent->inventory.call != NULL)
		agent->take_again = true;
	else if (agent->stopped == NULL || !agent->taken)
		agent_task_due(&agent->inventory, agent->taken_at + PACE, TURN_URGENT);
}
