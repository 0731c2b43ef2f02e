// SPDX-License-Identifier: MIT
/* The end: what is bad news and not acknowledged is said once more, then it is quiet. */
#include <math.h>

#include "probes/clock.h"
#include "runner/agent_calls.h"

#define STOP_TEXT "probity stopped"

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

void agent_stop_note(struct agent_check *check, bool pending)
{
	struct agent *agent = check->agent;

	if (agent->stopped == NULL || check->to_stop == pending)
		return;
	check->to_stop = pending;
	if (pending)
		agent->to_stop++;
	else
		agent->to_stop--;
	if (agent->to_stop == 0)
		stop_within(agent, 0);
}

void agent_stop(struct agent *agent, double seconds, void (*done)(void *owner), void *owner)
{
	const struct publish_now now = agent_now();

	agent->stopped = done;
	agent->owner = owner;
	stop_within(agent, seconds);
	/* One last try, whenever the next would have been. */
	agent->queue.gate.retry_at = fmin(agent->queue.gate.retry_at, now.monotonic);
	agent->to_stop = 1; /* ours: while the checks are walked */
	for (size_t i = 0; i < agent->check_count; i++) {
		struct agent_check *check = agent->checks[i];
		const struct service_conf *service = check->conf->service;

		if (service != NULL && service->on_stop == ON_STOP_CRITICAL)
			publish_want(&check->slot, PROBE_CRITICAL, STOP_TEXT, HUGE_VAL, now);
		publish_stop(&check->slot);
		agent_check_arm(check);
	}
	agent_queue_run(&agent->queue);
	agent->to_stop--;
	if (agent->to_stop == 0)
		stop_within(agent, 0);
}
