// SPDX-License-Identifier: MIT
/* The end: what is bad news and not acknowledged is said once more, then it is quiet. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "runner/agent_calls.h"
#include "runner/log.h"
#include "runner/unit_state.h"

#define STOP_TEXT "probity stopped"
#define ASK_SECONDS 1.0 /* s for systemd: half of what the whole end may take */

/* Tells from the loop, at the limit or as soon as nothing is left. */
static void on_stop(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct agent *agent = timer->data;

	(void)loop;
	(void)events;
	agent->stopped(agent->owner);
}

static void stop_within(struct agent *agent, double seconds)
{
	ev_timer_stop(agent->loop, &agent->stop);
	ev_now_update(agent->loop);
	ev_timer_init(&agent->stop, on_stop, seconds, 0);
	agent->stop.data = agent;
	ev_timer_start(agent->loop, &agent->stop);
}

void agent_stop_release(struct agent *agent)
{
	agent->to_stop--;
	if (agent->to_stop == 0)
		stop_within(agent, 0);
}

void agent_stop_note(struct agent_check *check, bool pending)
{
	struct agent *agent = check->agent;

	if (agent->stopped == NULL || check->to_stop == pending)
		return;
	check->to_stop = pending;
	if (pending)
		agent->to_stop++;
	else
		agent_stop_release(agent);
}

static bool acts(const struct check_conf *conf, enum on_stop action)
{
	return conf->service != NULL && conf->service->on_stop == (int)action;
}

/* One that is capped never counts, not even now. */
static void claim_critical(struct agent_check *check, const char *text)
{
	if (check->conf->max_status != PROBE_CRITICAL)
		return;
	publish_want(&check->slot, PROBE_CRITICAL, text, HUGE_VAL, agent_now());
}

static bool belongs_to(const struct check_conf *conf, const char *unit)
{
	return acts(conf, ON_STOP_AUTO) && conf->service->unit != NULL &&
		strcmp(conf->service->unit, unit) == 0;
}

static void on_unit(void *owner, const struct unit_state *state)
{
	struct agent *agent = owner;
	char *text;

	if (!unit_state_is_stopped(state))
		return;
	log_notice("%s is stopped, and so its checks are critical", state->name);
	text = xprintf("stopped with %s", state->name);
	for (size_t i = 0; i < agent->check_count; i++) {
		struct agent_check *check = agent->checks[i];

		if (!belongs_to(check->conf, state->name))
			continue;
		claim_critical(check, text);
		agent_check_arm(check);
	}
	free(text);
}

static void on_units(void *owner, const char *problem)
{
	struct agent *agent = owner;

	agent->question = NULL;
	if (problem != NULL)
		log_notice("what was passing is left to its TTL; whether the services were stopped "
			   "as well cannot be asked: %s",
			problem);
	agent_queue_run(&agent->queue);
	agent_stop_release(agent);
}

/* Asks once for all units whose services leave it to them. */
static void ask_for_units(struct agent *agent)
{
	const struct unit_asker asker = {.loop = agent->loop,
		.seconds = ASK_SECONDS,
		.answer = on_unit,
		.done = on_units,
		.owner = agent};
	const char **names = xcalloc(agent->service_count + 1, sizeof(*names));
	size_t count = 0;

	for (size_t i = 0; i < agent->service_count; i++) {
		const struct service_conf *conf = agent->services[i]->conf;

		if (conf->on_stop == ON_STOP_AUTO && conf->unit != NULL)
			names[count++] = conf->unit;
	}
	if (count > 0 && agent->consul != NULL) {
		agent->to_stop++;
		agent->question = unit_state_ask(&asker, names);
	}
	free(names);
}

/* The service takes its checks along: of these nothing is said any more. */
static void leave_services(struct agent *agent)
{
	for (size_t i = 0; i < agent->service_count; i++) {
		struct agent_service *service = agent->services[i];

		if (agent->consul == NULL || service->conf->on_stop != ON_STOP_DEREGISTER)
			continue;
		agent->to_stop++;
		service->leaving = true;
		agent_service_arm(service);
	}
}

void agent_stop(struct agent *agent, double seconds, void (*done)(void *owner), void *owner)
{
	const struct publish_now now = agent_now();

	agent->stopped = done;
	agent->owner = owner;
	stop_within(agent, seconds);
	/* One last try, whenever the next would have been. */
	agent->queue.gate.retry_at = fmin(agent->queue.gate.retry_at, now.monotonic);
	agent->queue.gate.patience = 0;
	agent->to_stop = 1; /* ours: while the checks are walked */
	for (size_t i = 0; i < agent->check_count; i++) {
		struct agent_check *check = agent->checks[i];

		if (acts(check->conf, ON_STOP_CRITICAL))
			claim_critical(check, STOP_TEXT);
		if (acts(check->conf, ON_STOP_DEREGISTER))
			publish_hold(&check->slot);
		publish_stop(&check->slot);
		agent_check_arm(check);
	}
	leave_services(agent);
	ask_for_units(agent);
	agent_queue_run(&agent->queue);
	agent_stop_release(agent);
}
