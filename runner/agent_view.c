// SPDX-License-Identifier: MIT
/* What status tells of the agent and of a check on it. */
#include "probes/clock.h"
#include "runner/agent_calls.h"

static const char *problem_of(const struct agent_check *check)
{
	const struct agent *agent = check->agent;

	if (agent->queue.gate.closed || !agent->taken)
		return agent->problem;
	if (check->service != NULL && check->service->problem != NULL)
		return check->service->problem;
	if (check->problem != NULL)
		return check->problem;
	if (check->echo.problem != NULL)
		return check->echo.problem;
	return agent->readback.maintenance_text != NULL || check->service == NULL
		? agent->readback.maintenance_text
		: check->service->maintenance_text;
}

void agent_check_view(const struct agent_check *check, struct agent_check_view *ret_view)
{
	const struct publish_slot *slot = &check->slot;
	const struct publish_now now = agent_now();
	struct publish_step next = publish_next(slot, now);
	bool waits = slot->acknowledged && next.kind == PUBLISH_HEARTBEAT;

	*ret_view = (struct agent_check_view){
		.registered = check->presence == PRESENCE_OURS,
		.acknowledged = publish_is_acknowledged(slot),
		.ever_acknowledged = slot->renewed_at > 0 || check->adopted,
		.acknowledged_status =
			slot->renewed_at > 0 ? slot->acknowledged_status : check->adopted_status,
		.acknowledged_at = check->acknowledged_at,
		.next_heartbeat_at = waits ? next.at + (now.boot - now.monotonic) : 0,
		.problem = problem_of(check),
	};
}

void agent_view(const struct agent *agent, struct agent_view *ret_view)
{
	*ret_view = (struct agent_view){
		.off = agent->consul == NULL,
		.reachable = agent->consul != NULL && !agent->queue.gate.closed,
		.changed_at = agent->changed_at,
		.address = agent->consul == NULL ? NULL : consul_address(agent->consul),
		.problem = agent->problem,
		.read_back = agent->readback.problem,
		.calls = agent->calls,
		.failures = agent->failures,
	};
}

void agent_watch(const struct agent *agent, struct watchdog *watchdog)
{
	double oldest;

	if (agent->consul != NULL && consul_oldest(agent->consul, &oldest))
		watchdog_note(watchdog, oldest, agent->settings->consul.timeout);
}
