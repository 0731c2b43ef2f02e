// SPDX-License-Identifier: MIT
/* Services that the agent removes, as it was told to, once a check was critical for long. */
#include <stdlib.h>

#include "config/arena.h"
#include "config/units.h"
#include "probes/clock.h"
#include "runner/agent_calls.h"
#include "runner/log.h"

/*
 * The agent's time of it, as far as it shows: from the first update that said so. An
 * expired TTL counts there as well, but an outage of the agent looks the same from here, and a
 * service that was lost in one must come back.
 */
void agent_reap_note(struct agent_check *check)
{
	const struct publish_slot *slot = &check->slot;

	if (slot->sent_status != PROBE_CRITICAL)
		check->critical_at = 0;
	else if (check->critical_at <= 0)
		check->critical_at = slot->sent_at;
}

void agent_reap_restart(struct agent *agent)
{
	double now = clock_monotonic();

	for (size_t i = 0; i < agent->check_count; i++) {
		if (agent->checks[i]->critical_at > 0)
			agent->checks[i]->critical_at = now;
	}
}

/* What the checks of a service are like. */
struct reap_facts {
	double now;
	bool overdue; /* the agent had cause to remove the service */
	bool critical; /* one is, or is not decided */
};

static void look(struct agent_check *check, void *data)
{
	const struct publish_slot *slot = &check->slot;
	struct reap_facts *facts = data;
	double after = register_reaps_after(check->conf);

	if (after > 0 && check->critical_at > 0 && facts->now - check->critical_at >= after)
		facts->overdue = true;
	if (!publish_may_claim(slot, agent_now()) || slot->status == PROBE_CRITICAL)
		facts->critical = true;
}

static void note_reaped(struct agent_check *check, void *data)
{
	agent_check_trouble(check, TROUBLE_REAPED, data);
}

static void say_reaped(struct agent_service *service)
{
	const struct register_conf *conf = service->conf->registration;
	char after[UNITS_DURATION_SIZE];
	char *problem;

	units_print_duration(conf->deregister_critical_service_after, after, sizeof(after));
	problem = xprintf("removed by the agent: a check was critical for %s", after);
	log_warning("service %s: %s; it is not registered again %s", service->conf->id, problem,
		conf->revive ? "until none of its checks is critical"
			     : "before probity is started again");
	agent_set_text(&service->problem, problem);
	agent_service_each(service, note_reaped, problem);
	free(problem);
}

bool agent_reap_allows(struct agent_service *service)
{
	struct reap_facts facts = {.now = clock_monotonic()};

	agent_service_each(service, look, &facts);
	if (!service->reaped && !facts.overdue)
		return true;
	if (service->reaped)
		return service->conf->registration->revive && !facts.critical;
	service->reaped = true;
	say_reaped(service);
	return false;
}

void agent_reap_end(struct agent_service *service)
{
	if (service->reaped)
		log_notice("service %s is registered again", service->conf->id);
	service->reaped = false;
}
