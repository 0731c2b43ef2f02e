// SPDX-License-Identifier: MIT
/* What a check knows of itself, for status. */
#include "runner/check_private.h"

#include <math.h>
#include <string.h>

#include "probes/clock.h"
#include "probes/remains.h"

static double ago(double then, double now)
{
	return then > 0 ? now - then : -1;
}

static void report_schedule(const struct check *check, struct check_report *report)
{
	/* A composed check has no runs. */
	report->interval = check->conf->composed == NULL ? check->conf->interval : -1;
	report->timeout = check->conf->composed == NULL ? check->conf->timeout : -1;
	report->ttl = check->conf->ttl;
	report->running = check->run.probe != NULL;
	report->next_run_in = ev_is_active(&check->tick) ? check->due - clock_monotonic() : -1;
	if (ev_is_active(&check->tick) && report->next_run_in < 0)
		report->next_run_in = 0;
	report->lateness = check->lateness;
	report->max_lateness = check->max_lateness;
}

static void report_result(const struct check *check, struct check_report *report)
{
	double now = clock_boot();

	report->has_result = check->ended_at > 0;
	report->age = ago(check->ended_at, now);
	report->changed = ago(check->claimed_at, now);
	report->duration =
		report->has_result && check->conf->composed == NULL ? check->duration : -1;
	if (!report->has_result)
		return;
	report->result = check->last.result;
	report->reason = check->last.reason;
	report->result_line = check->last_line;
	report->values = &check->values;
	memcpy(report->phase_seconds, check->phase_seconds, sizeof(report->phase_seconds));
}

void check_report(const struct check *check, struct check_report *ret_report)
{
	const struct check_conf *conf = check->conf;
	double now = clock_boot();

	*ret_report = (struct check_report){
		.id = conf->id,
		.name = conf->name,
		.service_id = conf->service != NULL ? conf->service->id : NULL,
		.type = conf->probe.variant->name,
		.target = conf->target,
		.composed = conf->composed,
		.decided = check->state.decided || check->stale,
		.status = check->claimed,
		.stale = check->stale,
		.output = check->output,
		.successes = check->state.successes,
		.failures = check->state.failures,
		.runs = check->runs,
		.skipped_ticks = check->skipped,
		.void_runs = check->voids,
		.timeouts = check->timeouts,
		.changes = check->changes,
		.remains = remains_count(check->remains),
	};
	report_schedule(check, ret_report);
	report_result(check, ret_report);
	if (check->agent != NULL)
		agent_check_view(check->agent, &ret_report->agent);
	ret_report->agent.acknowledged_at = ago(ret_report->agent.acknowledged_at, now);
	/* One that is overdue is due now; no plan at all is -1. */
	if (ret_report->agent.next_heartbeat_at > 0)
		ret_report->agent.next_heartbeat_at =
			fmax(ret_report->agent.next_heartbeat_at - now, 0);
	else
		ret_report->agent.next_heartbeat_at = -1;
}

bool check_claim(const struct check *check, enum probe_status *ret_status)
{
	if (check->output == NULL)
		return false;
	*ret_status = check->claimed;
	return true;
}

void check_watch(const struct check *check, struct watchdog *watchdog)
{
	bool open = check->run.probe != NULL;
	/* 1 s after KILL a tree is given up: a run that waits for an earlier one waits no longer.
	 */
	double most = check->conf->timeout + check->conf->kill_grace + 1;

	if (!check->stopped && check->conf->composed == NULL)
		watchdog_note(watchdog, open ? check->run.outcome.started : check->due, most);
}
