// SPDX-License-Identifier: MIT
/* The catalog is what readers see: it is compared with what the agent was told. */
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "probes/output.h"
#include "runner/agent_calls.h"
#include "runner/log.h"

#define JITTER 0.3 /* of the time between two looks: hosts do not ask the servers in step */
#define NODE_MAINTENANCE "_node_maintenance"
#define SERVICE_MAINTENANCE "_service_maintenance:"
#define REASON_MAX 200 /* bytes of what people write there */

static void go_on(struct agent *agent, double after)
{
	ev_timer_stop(agent->loop, &agent->readback.next);
	ev_now_update(agent->loop);
	ev_timer_set(&agent->readback.next, after, 0);
	ev_timer_start(agent->loop, &agent->readback.next);
}

static void wait_for_next(struct agent *agent)
{
	go_on(agent, agent->settings->consul.read_back * (1 + JITTER * (clock_fraction() - 0.5)));
}

/* It sees nothing: said once, and tried on at the same pace. NULL: it sees. */
static void set_problem(struct agent *agent, const char *problem)
{
	struct agent_readback *readback = &agent->readback;

	if (problem != NULL && readback->problem == NULL)
		log_notice("consul: the catalog is not read back: %s", problem);
	else if (problem == NULL && readback->problem != NULL)
		log_notice("consul: the catalog is read back again");
	agent_set_text(&readback->problem, problem);
}

static const char *text_of(const json_t *entry, const char *key)
{
	const char *text = json_string_value(json_object_get(entry, key));

	return text == NULL ? "" : text;
}

/* entry: the check by which the mode shows; NULL: there is none. */
static void note_maintenance(
	struct sighting *sighting, char **text, const char *who, const json_t *entry)
{
	const char *notes = text_of(entry, "Notes");
	char *reason;

	switch (sighting_note(sighting, entry != NULL)) {
	case SIGHTING_THERE:
		reason = output_clean_line(notes, strlen(notes), REASON_MAX);
		free(*text);
		*text = xprintf("%s is in maintenance mode: %s", who, reason);
		log_notice("%s; it is critical whatever its checks say", *text);
		free(reason);
		break;
	case SIGHTING_GONE:
		log_notice("%s is not in maintenance mode any more", who);
		agent_set_text(text, NULL);
		break;
	case SIGHTING_NO_NEWS:
		break;
	}
}

static void note_services(struct agent *agent, const json_t *modes)
{
	for (size_t i = 0; i < agent->service_count; i++) {
		struct agent_service *service = agent->services[i];
		char *who = xprintf("service %s", service->conf->id);

		note_maintenance(&service->maintenance, &service->maintenance_text, who,
			json_object_get(modes, service->conf->id));
		free(who);
	}
}

static void compare(struct agent *agent, const json_t *list)
{
	struct agent_readback *readback = &agent->readback;
	json_t *entry, *node_mode = NULL, *modes = json_object();
	size_t i, prefix = strlen(SERVICE_MAINTENANCE);

	readback->look++;
	json_array_foreach (list, i, entry) {
		const char *id = text_of(entry, "CheckID");
		struct agent_check *check = agent_find(agent, id);

		if (strcmp(id, NODE_MAINTENANCE) == 0)
			node_mode = entry;
		else if (strncmp(id, SERVICE_MAINTENANCE, prefix) == 0)
			(void)json_object_set(modes, id + prefix, entry);
		if (check == NULL)
			continue;
		check->echo.look = readback->look;
		agent_echo_judge(check, entry);
	}
	for (i = 0; i < agent->check_count; i++) {
		if (agent->checks[i]->echo.look != readback->look)
			agent_echo_judge(agent->checks[i], NULL);
	}
	note_maintenance(
		&readback->maintenance, &readback->maintenance_text, "the node", node_mode);
	note_services(agent, modes);
	json_decref(modes);
}

/* A node has at least its own check serfHealth: an empty list is a missing right. */
static void on_list(void *owner, const struct consul_answer *answer)
{
	struct agent *agent = owner;
	struct agent_readback *readback = &agent->readback;
	char *problem = NULL;

	readback->call = NULL;
	if (answer->result == CONSUL_FORBIDDEN)
		problem = xstrdup(answer->cause);
	else if (answer->result == CONSUL_OK && json_array_size(answer->json) == 0)
		problem = xprintf("the token may not read the node %s", readback->node);
	if (answer->result == CONSUL_OK || problem != NULL)
		set_problem(agent, problem);
	/* Else the servers are away: that is not ours to tell, and no reading. */
	if (answer->result == CONSUL_OK && problem == NULL)
		compare(agent, answer->json);
	free(problem);
	wait_for_next(agent);
	agent_queue_run(&agent->queue);
}

/* Each check names its node. */
static void on_node(void *owner, const struct consul_answer *answer)
{
	struct agent *agent = owner;
	const char *id, *node = NULL;
	json_t *check;

	agent->readback.call = NULL;
	json_object_foreach (answer->json, id, check)
		node = json_string_value(json_object_get(check, "Node"));
	if (node == NULL) {
		wait_for_next(agent);
		return;
	}
	agent_set_text(&agent->readback.node, node);
	go_on(agent, 0);
}

static void on_next(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct agent *agent = timer->data;
	struct agent_readback *readback = &agent->readback;
	const struct consul_reply list = {.done = on_list, .owner = agent};
	const struct consul_reply node = {.done = on_node, .owner = agent};

	(void)loop;
	(void)events;
	if (agent->stopped != NULL)
		return;
	readback->started = clock_monotonic();
	if (readback->node != NULL)
		readback->call = consul_catalog_get(agent->consul, readback->node, list);
	else if (agent->check_count > 0) /* another one each time, until one is there */
		readback->call = consul_check_peek(agent->consul,
			agent->checks[readback->look++ % agent->check_count]->conf->id, node);
	else
		wait_for_next(agent);
}

void agent_readback_init(struct agent *agent)
{
	ev_init(&agent->readback.next, on_next);
	agent->readback.next.data = agent;
}

void agent_readback_start(struct agent *agent)
{
	if (agent->consul != NULL && agent->settings->consul.read_back > 0)
		wait_for_next(agent);
}

void agent_readback_stop(struct agent *agent)
{
	struct agent_readback *readback = &agent->readback;

	ev_timer_stop(agent->loop, &readback->next);
	if (readback->call != NULL)
		(void)consul_cancel(readback->call);
	readback->call = NULL;
	readback->maintenance = (struct sighting){0};
	agent_set_text(&readback->node, NULL);
	agent_set_text(&readback->problem, NULL);
	agent_set_text(&readback->maintenance_text, NULL);
}
