// SPDX-License-Identifier: MIT
/* What the daemon knows, as JSON. */
#include "runner/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/output.h"

/* Of a path or a problem that is not UTF-8; longer than any path: PATH_MAX. */
#define TEXT_MOST 4096

/* Seconds to a microsecond; what is negative is "never". */
static json_t *seconds(double value)
{
	return value < 0 || !isfinite(value) ? json_null() : json_real(round(value * 1e6) / 1e6);
}

/* NULL is null. A path need not be UTF-8; JSON must. */
static json_t *text(const char *value)
{
	json_t *json = value == NULL ? json_null() : json_string(value);
	char *clean;

	if (json != NULL)
		return json;
	clean = output_clean_line(value, strlen(value), TEXT_MOST);
	json = json_string(clean);
	free(clean);
	return json;
}

static json_t *agent_json(const struct agent_view *view)
{
	return json_pack("{s:o, s:b, s:b, s:o, s:o, s:I, s:I}", "address", text(view->address),
		"off", view->off, "reachable", view->reachable, "changed_at",
		seconds(view->changed_at), "problem", text(view->problem), "calls",
		(json_int_t)view->calls, "failures", (json_int_t)view->failures);
}

static json_t *acknowledged_json(const struct agent_check_view *view)
{
	return json_pack("{s:b, s:b, s:o, s:o, s:o, s:o}", "registered", view->registered,
		"acknowledged", view->acknowledged, "acknowledged_status",
		view->ever_acknowledged ? json_string(status_name(view->acknowledged_status))
					: json_null(),
		"acknowledged_at", seconds(view->acknowledged_at), "next_heartbeat_at",
		seconds(view->next_heartbeat_at), "problem", text(view->problem));
}

static json_t *phases_json(const double *phase_seconds)
{
	json_t *phases = json_object();

	for (enum probe_phase phase = PHASE_START; phase < PHASE_COUNT; phase++) {
		if (phase_seconds[phase] >= 0)
			(void)json_object_set_new(
				phases, phase_name(phase), seconds(phase_seconds[phase]));
	}
	return phases;
}

static void add_result(json_t *check, const struct check_report *report)
{
	bool has = report->has_result;
	json_t *part = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "result",
		has ? json_string(status_name(report->result)) : json_null(), "reason",
		has ? json_string(reason_text(report->reason)) : json_null(), "result_line",
		text(report->result_line), "age", seconds(report->age), "duration",
		seconds(report->duration), "phase_seconds",
		has ? phases_json(report->phase_seconds) : json_null());

	(void)json_object_update(check, part);
	json_decref(part);
}

static void add_schedule(json_t *check, const struct check_report *report)
{
	json_t *part = json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "interval",
		seconds(report->interval), "timeout", seconds(report->timeout), "ttl",
		seconds(report->ttl), "next_run_in", seconds(report->next_run_in), "running",
		report->running, "lateness", seconds(report->lateness), "max_lateness",
		seconds(report->max_lateness));

	(void)json_object_update(check, part);
	json_decref(part);
}

static void add_counters(json_t *check, const struct check_report *report)
{
	json_t *part = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "successes",
		(json_int_t)report->successes, "failures", (json_int_t)report->failures, "runs",
		(json_int_t)report->runs, "skipped_ticks", (json_int_t)report->skipped_ticks,
		"void_runs", (json_int_t)report->void_runs, "timeouts",
		(json_int_t)report->timeouts, "changes", (json_int_t)report->changes, "remains",
		(json_int_t)report->remains);

	(void)json_object_update(check, part);
	json_decref(part);
}

static json_t *check_json(const struct check_report *report)
{
	bool claimed = report->decided && report->output != NULL;
	json_t *check = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o}", "id",
		text(report->id), "name", text(report->name), "service_id",
		text(report->service_id), "type", text(report->type), "target",
		text(report->target), "status",
		claimed ? json_string(status_name(report->status)) : json_null(), "decided",
		report->decided, "stale", report->stale, "output", text(report->output), "changed",
		seconds(report->changed), "agent", acknowledged_json(&report->agent));

	add_result(check, report);
	add_schedule(check, report);
	add_counters(check, report);
	return check;
}

json_t *report_json(const struct report_source *source)
{
	struct daemon_report daemon;
	struct check_report report;
	json_t *checks = json_array();
	size_t count = source->count(source->owner);

	source->daemon(source->owner, &daemon);
	for (size_t i = 0; i < count; i++) {
		source->check(source->owner, i, &report);
		(void)json_array_append_new(checks, check_json(&report));
	}
	return json_pack("{s:o, s:o, s:o, s:i, s:o, s:I, s:I, s:o, s:o, s:o}", "version",
		text(daemon.version), "config", text(daemon.config), "instance",
		text(daemon.instance), "pid", daemon.pid, "uptime", seconds(daemon.uptime),
		"stalls", (json_int_t)daemon.stalls, "reloads", (json_int_t)daemon.reloads,
		"reload_error", text(daemon.reload_error), "agent", agent_json(&daemon.agent),
		"checks", checks);
}
