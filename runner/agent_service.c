// SPDX-License-Identifier: MIT
/* One service: is it on the agent, who puts it there, and does it look as configured. */
#include <stdlib.h>

#include "config/arena.h"
#include "runner/agent_calls.h"
#include "runner/log.h"

#define WAIT_PACE 1.0 /* s between two questions for a service that somebody else registers */

static void run(struct agent_task *task);

struct agent_service *agent_service_create(struct agent *agent, const struct service_conf *conf)
{
	struct agent_service *service = xcalloc(1, sizeof(*service));

	service->agent = agent;
	service->conf = conf;
	agent_task_init(&service->task, &agent->queue, run);
	agent_vigil_init(service);
	return service;
}

void agent_service_destroy(struct agent_service *service)
{
	if (service == NULL)
		return;
	(void)agent_task_finish(&service->task);
	agent_vigil_end(service);
	free(service->maintenance_text);
	free(service->problem);
	free(service);
}

void agent_service_arm(struct agent_service *service)
{
	const struct agent *agent = service->agent;

	if (service->task.call != NULL)
		return;
	/* The first inventory comes first: it says what checks a service has. */
	if (service->leaving)
		agent_task_due(&service->task, 0, TURN_URGENT);
	else if (!agent->taken || agent->stopped != NULL || service->step == SERVICE_SETTLED)
		agent_task_idle(&service->task);
	else
		agent_task_due(&service->task, service->at, TURN_URGENT);
}

void agent_service_set(struct agent_service *service, enum agent_service_step step, double at)
{
	if (step == SERVICE_LOOK) {
		/* One that is waited for keeps its pace, one that was refused its delay. */
		if (service->step == SERVICE_LOOK && service->at > at && service->delay > 0)
			at = service->at;
		service->there = false;
		agent_vigil_end(service);
	}
	service->step = step;
	service->at = at;
	agent_service_arm(service);
}

void agent_service_each(
	struct agent_service *service, void (*f)(struct agent_check *check, void *data), void *data)
{
	struct agent *agent = service->agent;

	for (size_t i = 0; i < agent->check_count; i++) {
		if (agent->checks[i]->service == service)
			f(agent->checks[i], data);
	}
}

static void arm_check(struct agent_check *check, void *data)
{
	(void)data;
	agent_check_urge(check);
	agent_check_arm(check);
}

static void say_waiting(struct agent_service *service)
{
	char *problem = xprintf("unknown service %s", service->conf->id);

	agent_set_text(&service->problem, problem);
	free(problem);
	if (!service->waiting)
		log_warning(
			"unknown service %s: waiting for it to be registered", service->conf->id);
	service->waiting = true;
}

static void found(struct agent_service *service, const json_t *answer)
{
	bool ours = service->conf->registration != NULL;

	service->there = true;
	service->delay = 0;
	agent_set_text(&service->problem, NULL);
	agent_reap_end(service);
	agent_vigil_keep(service, answer);
	if (service->waiting) {
		log_notice("service %s is registered", service->conf->id);
		service->waiting = false;
		service->counted = false;
		service->uncounted_since = agent_now().monotonic;
		agent_inventory_take(service->agent);
	}
	service->step = ours && register_service_differs(service->conf, answer) ? SERVICE_UPDATE
										: SERVICE_SETTLED;
	service->at = 0;
	agent_service_each(service, arm_check, NULL);
}

static void missing(struct agent_service *service)
{
	agent_well(service->agent);
	service->there = false;
	service->delay = 0;
	if (service->conf->registration == NULL) {
		say_waiting(service);
	} else if (agent_reap_allows(service)) {
		service->step = SERVICE_REGISTER;
		service->at = 0;
		return;
	}
	service->at = agent_now().monotonic + WAIT_PACE;
}

static void refused(struct agent_service *service, const char *cause)
{
	service->at = agent_now().monotonic + agent_back_off(&service->delay);
	if (service->problem == NULL)
		log_warning("service %s: the agent refuses: %s; tried again at growing intervals "
			    "up to 30s",
			service->conf->id, cause);
	agent_set_text(&service->problem, cause);
}

static void on_found(void *owner, const struct consul_answer *answer)
{
	struct agent_service *service = owner;
	struct agent *agent = service->agent;

	switch (agent_judge(agent, &service->task, answer, true)) {
	case VERDICT_DONE:
		found(service, answer->json);
		break;
	case VERDICT_REFUSED:
		refused(service, answer->cause);
		break;
	case VERDICT_UNKNOWN:
		if (answer->result == CONSUL_NOT_FOUND)
			missing(service);
		else
			agent_failed(agent, answer->cause);
		break;
	case VERDICT_FAILED:
		break;
	}
	agent_service_arm(service);
	agent_queue_run(&agent->queue);
}

static void check_came_with_it(struct agent_check *check, void *data)
{
	(void)data;
	if (check->sent_definition != 0 && check->presence != PRESENCE_CLASH && !check->evict)
		agent_check_registered(check);
	agent_check_arm(check);
}

static void on_registered(void *owner, const struct consul_answer *answer)
{
	struct agent_service *service = owner;
	struct agent *agent = service->agent;
	bool first = service->called == SERVICE_REGISTER;

	switch (agent_judge(agent, &service->task, answer, true)) {
	case VERDICT_DONE:
		log_info(first ? "service %s registered with its checks"
			       : "service %s registered again, its checks kept",
			service->conf->id);
		service->there = true;
		service->delay = 0;
		/* Unless a check was found to be lost meanwhile, which asks for a look. */
		if (service->step == service->called)
			service->step = SERVICE_SETTLED;
		agent_set_text(&service->problem, NULL);
		agent_reap_end(service);
		agent_vigil_keep(service, NULL);
		if (first) {
			service->counted = true;
			service->check_count = 0;
			agent_service_each(service, check_came_with_it, NULL);
		} else {
			agent_service_each(service, arm_check, NULL);
		}
		break;
	case VERDICT_REFUSED:
		refused(service, answer->cause);
		break;
	case VERDICT_UNKNOWN:
		agent_failed(agent, answer->cause);
		break;
	case VERDICT_FAILED:
		break;
	}
	agent_service_arm(service);
	agent_queue_run(&agent->queue);
}

static void on_left(void *owner, const struct consul_answer *answer)
{
	struct agent_service *service = owner;
	struct agent *agent = service->agent;

	switch (agent_judge(agent, &service->task, answer, true)) {
	case VERDICT_DONE:
		log_notice("service %s deregistered", service->conf->id);
		service->leaving = false;
		break;
	case VERDICT_REFUSED:
	case VERDICT_UNKNOWN: /* there is none, or no time to find out */
		log_warning("service %s is not deregistered: %s", service->conf->id, answer->cause);
		service->leaving = false;
		break;
	case VERDICT_FAILED: /* tried again when the gate lets it, while there is time */
		break;
	}
	agent_service_arm(service);
	agent_queue_run(&agent->queue);
	if (!service->leaving)
		agent_stop_release(agent);
}

/* Its status where one is decided and fresh, else critical: never passing without proof. */
static void add_check(struct agent_check *check, void *data)
{
	bool claimed = publish_may_claim(&check->slot, agent_now());

	if (check->presence == PRESENCE_CLASH || check->evict)
		return;
	check->sent_definition = check->definition;
	register_add_check(data, check->conf, check->agent->settings->instance,
		claimed ? check->slot.status : PROBE_CRITICAL);
}

static void run(struct agent_task *task)
{
	struct agent_service *service = (struct agent_service *)task;
	struct consul *consul = service->agent->consul;
	const struct consul_reply found_reply = {.done = on_found, .owner = service};
	const struct consul_reply registered = {.done = on_registered, .owner = service};
	const struct consul_reply left = {.done = on_left, .owner = service};
	json_t *body;

	service->called = service->step;
	if (service->leaving) {
		agent_task_called(task, consul_service_deregister(consul, service->conf->id, left));
		return;
	}
	if (service->step == SERVICE_SETTLED)
		return;
	if (service->step == SERVICE_LOOK) {
		agent_task_called(task, consul_service_get(consul, service->conf->id, found_reply));
		return;
	}
	body = register_service_body(service->conf);
	if (service->step == SERVICE_REGISTER)
		agent_service_each(service, add_check, body);
	agent_task_called(task, consul_service_register(consul, body, registered));
	json_decref(body);
}
