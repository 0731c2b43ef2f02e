// SPDX-License-Identifier: MIT
/* The local Consul agent as the runner sees it: claims in, views out. */
#include "runner/agent.h"

#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "runner/agent_calls.h"
#include "runner/log.h"
#include "runner/unit_state.h"

#define TOKEN_PACE 1.0 /* s between two looks at a token file while calls are refused */

static void prepare(void *owner)
{
	agent_refresh(owner);
}

static bool is_refused(const struct agent *agent)
{
	bool refused = agent->troubled[TROUBLE_REFUSED] > 0 || agent->inventory_delay > 0;

	for (size_t i = 0; i < agent->service_count; i++)
		refused = refused || agent->services[i]->delay > 0;
	return refused;
}

static void on_token(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct agent *agent = timer->data;

	(void)events;
	if (is_refused(agent))
		agent_refresh(agent);
	else
		ev_timer_stop(loop, timer);
}

static void connect_to(struct agent *agent)
{
	const struct consul_setup setup = {
		.loop = agent->loop,
		.conf = &agent->settings->consul,
		.token_changed = agent_token_changed,
		.owner = agent,
	};

	if (!setup.conf->address.off)
		agent->consul = consul_create(&setup);
}

struct agent *agent_create(struct ev_loop *loop, const struct settings *settings)
{
	struct agent *agent = xcalloc(1, sizeof(*agent));

	agent->loop = loop;
	agent->settings = settings;
	agent_queue_init(&agent->queue, loop);
	agent->queue.prepare = prepare;
	agent->queue.owner = agent;
	agent_inventory_init(agent);
	agent_readback_init(agent);
	ev_init(&agent->token, on_token);
	agent->token.repeat = TOKEN_PACE;
	agent->token.data = agent;
	ev_init(&agent->stop, NULL);
	connect_to(agent);
	agent_follow(agent);
	agent_readback_start(agent);
	if (agent->consul != NULL)
		agent_inventory_take(agent);
	return agent;
}

void agent_destroy(struct agent *agent)
{
	if (agent == NULL)
		return;
	agent->stopped = NULL;
	unit_state_cancel(agent->question);
	agent_readback_stop(agent);
	agent_inventory_finish(agent);
	for (size_t i = 0; i < agent->check_count; i++)
		agent_check_destroy(agent->checks[i]);
	for (size_t i = 0; i < agent->service_count; i++)
		agent_service_destroy(agent->services[i]);
	agent_queue_finish(&agent->queue);
	ev_timer_stop(agent->loop, &agent->token);
	ev_timer_stop(agent->loop, &agent->stop);
	consul_destroy(agent->consul);
	free(agent->checks);
	free(agent->services);
	free(agent->problem);
	free(agent);
}

/* Another agent, or the same in another way: nothing that was known of it holds. */
static void forget_all(struct agent *agent)
{
	agent_readback_stop(agent);
	agent_inventory_finish(agent);
	for (size_t i = 0; i < agent->service_count; i++) {
		struct agent_service *service = agent->services[i];

		(void)agent_task_finish(&service->task);
		agent_vigil_end(service);
		service->step = SERVICE_LOOK;
		service->there = service->counted = service->waiting = service->reaped = false;
		service->at = service->delay = 0;
		agent_set_text(&service->problem, NULL);
	}
	for (size_t i = 0; i < agent->check_count; i++) {
		struct agent_check *check = agent->checks[i];
		bool sent = agent_task_finish(&check->task);

		if (check->slot.in_flight)
			publish_answered(&check->slot, sent ? PUBLISH_ABANDONED : PUBLISH_REFUSED,
				agent_now());
		publish_forget(&check->slot);
		publish_delay(&check->slot, 0);
		check->presence = PRESENCE_UNKNOWN;
		check->known_definition = 0;
		agent_echo_finish(check);
		check->look = check->at_once = check->was_absent = check->evict = false;
		check->not_before = check->delay = check->critical_at = 0;
		agent_check_trouble(check, TROUBLE_NONE, NULL);
	}
	agent_set_text(&agent->problem, NULL);
	agent->queue.gate = (struct agent_gate){0};
	agent->taken = agent->away = false;
	agent->inventory_delay = agent->taken_at = 0;
	ev_timer_stop(agent->loop, &agent->token);
	consul_destroy(agent->consul);
	agent->consul = NULL;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_tls(const struct tls_conf *a, const struct tls_conf *b)
{
	return a->verify == b->verify && same_text(a->ca_file, b->ca_file) &&
		same_text(a->server_name, b->server_name) &&
		same_text(a->cert_file, b->cert_file) && same_text(a->key_file, b->key_file);
}

static bool same_consul(const struct consul_conf *a, const struct consul_conf *b)
{
	return same_tls(&a->tls, &b->tls) && same_text(a->namespace, b->namespace) &&
		same_text(a->partition, b->partition) &&
		a->address.transport == b->address.transport && a->address.off == b->address.off &&
		same_text(a->token_file, b->token_file) && a->timeout >= b->timeout &&
		a->timeout <= b->timeout && a->read_back >= b->read_back &&
		a->read_back <= b->read_back &&
		(a->address.off || same_text(a->address.endpoint.shown, b->address.endpoint.shown));
}

void agent_reload(struct agent *agent, const struct settings *settings)
{
	bool same = same_consul(&agent->settings->consul, &settings->consul);

	if (!same)
		forget_all(agent);
	agent->settings = settings;
	if (!same)
		connect_to(agent);
	agent_follow(agent);
	if (!same)
		agent_readback_start(agent);
	/* It arms them all, once the runner has said which claims no longer hold. */
	if (agent->consul != NULL)
		agent_inventory_take(agent);
}

struct agent_check *agent_find(struct agent *agent, const char *check_id)
{
	const struct check_conf conf = {.id = check_id};
	const struct agent_check key = {.conf = &conf};
	const struct agent_check *wanted = &key;
	struct agent_check **found = agent->check_count == 0
		? NULL
		: bsearch(&wanted, agent->checks, agent->check_count, sizeof(struct agent_check *),
			  agent_compare_check);

	return found == NULL ? NULL : *found;
}

void agent_publish(struct agent_check *check, const struct claim *claim)
{
	publish_want(&check->slot, claim->status, claim->output, claim->fresh_until, agent_now());
	agent_check_arm(check);
}

void agent_adopt(struct agent_check *check, enum probe_status status)
{
	check->adopted = true;
	check->adopted_status = status;
}

void agent_hold(struct agent_check *check)
{
	publish_hold(&check->slot);
	agent_check_arm(check);
}
