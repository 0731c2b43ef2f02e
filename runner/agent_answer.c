// SPDX-License-Identifier: MIT
/* What an answer says of the agent as a whole: the gate, refusals, the token. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "runner/agent_calls.h"
#include "runner/log.h"

#define FIRST_DELAY 1.0 /* s after the first refusal */
#define MOST_DELAY 30.0 /* s: an agent caches what a token may do for as long */

struct publish_now agent_now(void)
{
	return (struct publish_now){.monotonic = clock_monotonic(), .boot = clock_boot()};
}

void agent_set_text(char **text, const char *value)
{
	char *copy = value == NULL ? NULL : xstrdup(value);

	free(*text);
	*text = copy;
}

double agent_back_off(double *delay)
{
	*delay = *delay <= 0 ? FIRST_DELAY : fmin(*delay * 2, MOST_DELAY);
	return *delay;
}

void agent_failed(struct agent *agent, const char *cause)
{
	agent_set_text(&agent->problem, cause);
	if (!agent_gate_failed(&agent->queue.gate, clock_monotonic(), clock_fraction()))
		return;
	agent->changed_at = clock_boot();
	log_warning("consul: the agent at %s cannot be used: %s; probes go on, and the newest "
		    "results are delivered when it answers",
		consul_address(agent->consul), cause);
}

/* True if the gate has just opened. */
static bool open_gate(struct agent *agent)
{
	if (!agent_gate_answered(&agent->queue.gate, clock_monotonic()))
		return false;
	if (agent->away)
		agent_reap_restart(agent);
	agent->away = false;
	agent_set_text(&agent->problem, NULL);
	agent->changed_at = clock_boot();
	log_notice("consul: the agent at %s answers again", consul_address(agent->consul));
	return true;
}

void agent_well(struct agent *agent)
{
	/* It may have been restarted and know nothing: heartbeats would notice only in time. */
	if (open_gate(agent))
		agent_inventory_take(agent);
}

static void settle(struct agent *agent, const struct agent_task *task)
{
	/* An inventory that opens the gate is the one that would be asked for. */
	if (task == &agent->inventory)
		(void)open_gate(agent);
	else
		agent_well(agent);
}

enum agent_verdict agent_judge(struct agent *agent, struct agent_task *task,
	const struct consul_answer *answer, bool proves)
{
	agent_task_answered(task);
	agent->calls++;
	agent->failures += answer->result != CONSUL_OK;
	switch (answer->result) {
	case CONSUL_OK:
		if (proves)
			settle(agent, task);
		return VERDICT_DONE;
	case CONSUL_FORBIDDEN:
		agent->reread = true;
		if (!ev_is_active(&agent->token))
			ev_timer_again(agent->loop, &agent->token);
		/* fall through */
	case CONSUL_BAD:
		if (answer->code != 0)
			settle(agent, task);
		return VERDICT_REFUSED;
	case CONSUL_NOT_FOUND:
		return VERDICT_UNKNOWN;
	case CONSUL_FAILED:
		if (answer->code == 500)
			return VERDICT_UNKNOWN;
		break;
	case CONSUL_REFUSED:
		agent->away = true;
		break;
	case CONSUL_ABANDONED:
		break;
	}
	agent_failed(agent, answer->cause);
	if (answer->retry_after > 0)
		agent_gate_put_off(&agent->queue.gate, clock_monotonic() + answer->retry_after);
	return VERDICT_FAILED;
}

void agent_refresh(struct agent *agent)
{
	bool reread = agent->reread;

	agent->reread = false;
	consul_refresh(agent->consul, reread);
}

/* The agent syncs a check with the token that it was registered with. */
void agent_token_changed(void *owner)
{
	struct agent *agent = owner;
	double now = clock_monotonic();

	log_notice("consul: the token has changed; checks are registered again with it");
	for (size_t i = 0; i < agent->service_count; i++) {
		struct agent_service *service = agent->services[i];
		bool ours = service->conf->registration != NULL;

		service->delay = 0;
		if (service->step == SERVICE_SETTLED && ours)
			service->step = SERVICE_UPDATE;
		agent_service_set(service, service->step, now);
	}
	for (size_t i = 0; i < agent->check_count; i++) {
		struct agent_check *check = agent->checks[i];

		check->definition++;
		check->delay = 0;
		check->not_before = 0;
		publish_delay(&check->slot, 0);
		publish_forget(&check->slot);
		agent_check_arm(check);
	}
	agent->inventory_delay = 0;
	if (!agent->taken)
		agent_inventory_take(agent);
}
