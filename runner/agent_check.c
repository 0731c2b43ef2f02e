// SPDX-License-Identifier: MIT
/* One check: which call it needs next, and what its answer changes. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "config/arena.h"
#include "runner/agent_calls.h"

#define LOST_PACE 1.0 /* s between two attempts to place a lost check */

static void run(struct agent_task *task);

struct agent_check *agent_check_create(struct agent *agent, const struct check_conf *conf)
{
	struct agent_check *check = xcalloc(1, sizeof(*check));

	check->agent = agent;
	check->conf = conf;
	check->definition = 1;
	publish_init(&check->slot, conf->ttl);
	agent_task_init(&check->task, &agent->queue, run);
	agent->troubled[TROUBLE_NONE]++;
	return check;
}

void agent_check_destroy(struct agent_check *check)
{
	if (check == NULL)
		return;
	agent_stop_note(check, false);
	check->agent->troubled[check->trouble]--;
	(void)agent_task_finish(&check->task);
	publish_finish(&check->slot);
	agent_echo_finish(check);
	free(check->doubt);
	free(check->problem);
	free(check);
}

static struct register_plan plan_of(const struct agent_check *check)
{
	const struct agent_service *service = check->service;
	const struct register_facts facts = {
		.presence = check->presence,
		.definition_sent = check->known_definition == check->definition,
		.service_there = service == NULL || (service->there && service->counted),
		.bare = check->at_once && check->agent->stopped == NULL,
		.not_before = check->not_before,
		.status = check->slot.status,
		.claim = publish_next(&check->slot, agent_now()),
	};

	return register_next(&facts);
}

void agent_check_arm(struct agent_check *check)
{
	struct register_plan plan;

	if (check->task.call != NULL) { /* its answer arms it */
		agent_stop_note(check, true);
		return;
	}
	if (!check->agent->taken) { /* the first inventory does; there is none if consul is off */
		struct publish_step step = publish_next(&check->slot, agent_now());

		agent_stop_note(
			check, check->agent->consul != NULL && step.kind != PUBLISH_NOTHING);
		return;
	}
	if (check->look) {
		agent_stop_note(check, check->presence != PRESENCE_CLASH);
		agent_task_due(&check->task, check->look_at, TURN_NEXT);
		return;
	}
	plan = plan_of(check);
	agent_stop_note(check, plan.call != REGISTER_NOTHING);
	if (plan.call == REGISTER_NOTHING)
		agent_task_idle(&check->task);
	else
		agent_task_due(&check->task, plan.at, plan.urgent ? TURN_URGENT : TURN_ORDINARY);
}

/* After each answer: what is next for the check, and for whoever waits for a connection. */
static void go_on(struct agent_check *check)
{
	struct agent *agent = check->agent;

	agent_check_arm(check);
	agent_queue_run(&agent->queue);
}

static void on_looked(void *owner, const struct consul_answer *answer)
{
	struct agent_check *check = owner;
	struct agent *agent = check->agent;
	bool proves = check->doubt == NULL;

	switch (agent_judge(agent, &check->task, answer, proves)) {
	case VERDICT_DONE:
		check->look = false;
		agent_check_look(check, answer->json);
		break;
	case VERDICT_REFUSED:
		check->look_at = agent_now().monotonic + agent_back_off(&check->delay);
		agent_check_trouble(check, TROUBLE_REFUSED, answer->cause);
		break;
	case VERDICT_UNKNOWN:
		agent_failed(agent, answer->cause);
		break;
	case VERDICT_FAILED:
		break;
	}
	go_on(check);
}

static void on_registered(void *owner, const struct consul_answer *answer)
{
	struct agent_check *check = owner;
	double now = agent_now().monotonic;

	switch (agent_judge(check->agent, &check->task, answer, true)) {
	case VERDICT_DONE:
		check->delay = 0;
		agent_check_registered(check);
		break;
	case VERDICT_REFUSED:
		check->not_before = now + agent_back_off(&check->delay);
		agent_check_trouble(check, TROUBLE_REFUSED, answer->cause);
		break;
	case VERDICT_UNKNOWN:
		if (check->service == NULL) {
			agent_failed(check->agent, answer->cause);
			break;
		}
		/* The service may be gone: prose is not parsed, so that is looked up. */
		agent_well(check->agent);
		check->not_before = now + LOST_PACE;
		agent_check_trouble(check, TROUBLE_LOST, answer->cause);
		agent_service_set(check->service, SERVICE_LOOK, now);
		break;
	case VERDICT_FAILED:
		break;
	}
	go_on(check);
}

/* Gone, or it never was: newer agents answer 404 then. At once to its place. */
static void on_evicted(void *owner, const struct consul_answer *answer)
{
	struct agent_check *check = owner;

	switch (agent_judge(check->agent, &check->task, answer, true)) {
	case VERDICT_UNKNOWN:
		if (answer->result != CONSUL_NOT_FOUND) {
			agent_failed(check->agent, answer->cause);
			break;
		}
		agent_well(check->agent);
		/* fall through */
	case VERDICT_DONE:
		check->evict = false;
		/* Before all others: meanwhile its service has a check less. */
		agent_task_due(&check->task, 0, TURN_NEXT);
		break;
	case VERDICT_REFUSED:
		check->not_before = agent_now().monotonic + agent_back_off(&check->delay);
		agent_check_trouble(check, TROUBLE_REFUSED, answer->cause);
		break;
	case VERDICT_FAILED:
		break;
	}
	go_on(check);
}

static enum publish_answer publish_answer_of(const struct consul_answer *answer)
{
	if (answer->result == CONSUL_OK)
		return PUBLISH_ACCEPTED;
	return answer->result == CONSUL_ABANDONED ? PUBLISH_ABANDONED : PUBLISH_REFUSED;
}

static void on_updated(void *owner, const struct consul_answer *answer)
{
	struct agent_check *check = owner;
	enum agent_verdict verdict = agent_judge(check->agent, &check->task, answer, true);
	struct publish_now now = agent_now();

	publish_answered(&check->slot, publish_answer_of(answer), now);
	switch (verdict) {
	case VERDICT_DONE:
		check->delay = 0;
		check->known_at = now.monotonic;
		agent_reap_note(check);
		agent_echo_told(check);
		if (!check->slot.doubt)
			check->acknowledged_at = now.boot;
		agent_check_trouble(check, TROUBLE_NONE, NULL);
		break;
	case VERDICT_REFUSED:
		publish_delay(&check->slot, now.monotonic + agent_back_off(&check->delay));
		agent_check_trouble(check, TROUBLE_REFUSED, answer->cause);
		break;
	case VERDICT_UNKNOWN:
		agent_set_text(&check->doubt, answer->cause);
		check->doubted_at = check->sent_at;
		check->look = true;
		/* At once the first time, then paced: a look follows each such answer. */
		check->look_at = fmax(now.monotonic, check->look_at + LOST_PACE);
		break;
	case VERDICT_FAILED:
		break;
	}
	go_on(check);
}

static void update(struct agent_check *check, struct consul *consul)
{
	const struct consul_reply reply = {.done = on_updated, .owner = check};
	const struct publish_slot *slot = &check->slot;
	const char *id = check->conf->id;

	publish_sent(&check->slot, agent_now());
	agent_task_called(&check->task,
		check->conf->update == UPDATE_TTL
			? consul_check_ttl(consul, id, slot->status, slot->output, reply)
			: consul_check_update(consul, id, slot->status, slot->output, reply));
}

static void register_it(struct agent_check *check, struct consul *consul, enum probe_status status)
{
	const struct consul_reply reply = {.done = on_registered, .owner = check};
	json_t *body = register_check_body(check->conf, check->agent->settings->instance, status);

	check->sent_definition = check->definition;
	agent_task_called(&check->task, consul_check_register(consul, body, reply));
	json_decref(body);
}

static void run(struct agent_task *task)
{
	struct agent_check *check = (struct agent_check *)task;
	struct consul *consul = check->agent->consul;
	struct register_plan plan = plan_of(check);
	double now = agent_now().monotonic;

	if (check->look && check->look_at <= now) {
		const struct consul_reply reply = {.done = on_looked, .owner = check};

		agent_task_called(task, consul_checks_get(consul, check->conf->id, reply));
	} else if (check->look || plan.at > now) {
		agent_check_arm(check); /* the plan has changed since it was due */
	} else if (check->evict) {
		const struct consul_reply reply = {.done = on_evicted, .owner = check};

		agent_task_called(task, consul_check_deregister(consul, check->conf->id, reply));
	} else if (plan.call == REGISTER_UPDATE) {
		update(check, consul);
	} else {
		register_it(check, consul, plan.status);
	}
	if (task->call != NULL)
		check->sent_at = now;
}
