// SPDX-License-Identifier: MIT
/* What the daemon knows, as JSON. */
#include "runner/report.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/output.h"

/* Of a path or a problem that is not UTF-8; longer than any path: PATH_MAX. */
#define TEXT_MOST 4096
/* As many as a double keeps of any decimal: 0.012 stays 0.012. */
#define REAL_DIGITS 15

struct report {
	struct report_source source;
	unsigned long reloads; /* as they were when it began */
	bool begun; /* the daemon's part is made */
	enum report_list list; /* that is being made */
	size_t rows; /* of it, made so far */
	char *piece; /* the current one */
	size_t used; /* bytes of it */
	bool ended; /* the current piece is the last */
};

/* Seconds to a microsecond; what is negative is "never". */
static json_t *seconds(double value)
{
	return value < 0 || !isfinite(value) ? json_null() : json_real(round(value * 1e6) / 1e6);
}

/* NULL is null. A path need not be UTF-8; JSON must. */
static json_t *text(const char *value)
{
	json_t *json;
	char *clean;

	if (value == NULL)
		return json_null();
	json = json_string(value);
	if (json != NULL)
		return json;
	clean = output_clean_line(value, strlen(value), TEXT_MOST);
	json = json_string(clean);
	free(clean);
	return json;
}

static json_t *agent_json(const struct agent_view *view)
{
	return json_pack("{s:o, s:b, s:b, s:o, s:o, s:o, s:I, s:I}", "address", text(view->address),
		"off", view->off, "reachable", view->reachable, "changed_at",
		seconds(view->changed_at), "problem", text(view->problem), "read_back",
		text(view->read_back), "calls", (json_int_t)view->calls, "failures",
		(json_int_t)view->failures);
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
	json_t *part = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "result",
		has ? json_string(status_name(report->result)) : json_null(), "reason",
		has ? json_string(reason_text(report->reason)) : json_null(), "result_line",
		text(report->result_line), "values",
		has ? measures_json(report->values) : json_null(), "age", seconds(report->age),
		"duration", seconds(report->duration), "phase_seconds",
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

/* The names of those that a composed check is made of; null for others. */
static json_t *members_json(const struct compose_conf *composed)
{
	json_t *members;

	if (composed == NULL)
		return json_null();
	members = json_array();
	for (size_t i = 0; i < composed->count; i++)
		(void)json_array_append_new(members, text(composed->members[i].probe));
	return members;
}

static json_t *check_json(const struct check_report *report)
{
	bool claimed = report->decided && report->output != NULL;
	json_t *check = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o}",
		"id", text(report->id), "name", text(report->name), "service_id",
		text(report->service_id), "type", text(report->type), "target",
		text(report->target), "members", members_json(report->composed), "status",
		claimed ? json_string(status_name(report->status)) : json_null(), "decided",
		report->decided, "stale", report->stale, "output", text(report->output), "changed",
		seconds(report->changed), "agent", acknowledged_json(&report->agent));

	add_result(check, report);
	add_schedule(check, report);
	add_counters(check, report);
	return check;
}

static json_t *left_out_json(const struct settings *settings)
{
	json_t *files = json_array();
	const struct settings_file *file;

	for (size_t i = 0; settings != NULL && (file = settings_left_out(settings, i)) != NULL; i++)
		(void)json_array_append_new(files,
			json_pack("{s:o, s:o}", "file", text(file->path), "problem",
				text(file->problem)));
	return files;
}

static json_t *daemon_json(const struct daemon_report *daemon)
{
	return json_pack("{s:o, s:o, s:o, s:i, s:o, s:I, s:I, s:o, s:o, s:o}", "version",
		text(daemon->version), "config", text(daemon->config), "instance",
		text(daemon->instance), "pid", daemon->pid, "uptime", seconds(daemon->uptime),
		"stalls", (json_int_t)daemon->stalls, "reloads", (json_int_t)daemon->reloads,
		"reload_error", text(daemon->reload_error), "left_out",
		left_out_json(daemon->settings), "agent", agent_json(&daemon->agent));
}

struct report *report_create(const struct report_source *source)
{
	struct report *report = xcalloc(1, sizeof(*report));
	struct daemon_report daemon;

	report->source = *source;
	source->daemon(source->owner, &daemon);
	report->reloads = daemon.reloads;
	return report;
}

void report_destroy(struct report *report)
{
	if (report == NULL)
		return;
	free(report->piece);
	free(report);
}

/* One line of JSON; takes over the value. free(). */
static char *dump(json_t *take_json)
{
	char *line = json_dumps(take_json, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));

	json_decref(take_json);
	if (line == NULL) /* all text is UTF-8 by now: it is memory that is out */
		xfail();
	return line;
}

/* The daemon's object without its brace, the rows of each list one by one, the end. */
static char *make_piece(struct report *report, const struct daemon_report *daemon)
{
	const struct report_source *source = &report->source;
	struct check_report check;
	char *line, *piece;

	if (!report->begun) {
		report->begun = true;
		line = dump(daemon_json(daemon));
		line[strlen(line) - 1] = '\0';
		piece = xprintf("%s,\"checks\":[", line);
		free(line);
		return piece;
	}
	if (report->rows == source->count(source->owner, report->list)) {
		report->rows = 0;
		report->ended = ++report->list == REPORT_LISTS;
		return xstrdup(report->ended ? "]}" : "],\"probes\":[");
	}
	source->check(source->owner, report->list, report->rows, &check);
	line = dump(check_json(&check));
	piece = xprintf("%s%s", report->rows++ == 0 ? "" : ",", line);
	free(line);
	return piece;
}

/* Makes the next piece where the last one is used up: 1, 0 at the end, -1 if cut. */
static int next_piece(struct report *report)
{
	struct daemon_report daemon;

	if (report->piece != NULL && report->piece[report->used] != '\0')
		return 1;
	if (report->ended)
		return 0;
	report->source.daemon(report->source.owner, &daemon);
	if (daemon.reloads != report->reloads)
		return -1;
	free(report->piece);
	report->piece = make_piece(report, &daemon);
	report->used = 0;
	return 1;
}

ssize_t report_read(struct report *report, char *bytes, size_t size)
{
	size_t total = 0;
	int more = 1;

	while (total < size && (more = next_piece(report)) > 0) {
		size_t length = strnlen(report->piece + report->used, size - total);

		memcpy(bytes + total, report->piece + report->used, length);
		report->used += length;
		total += length;
	}
	return more < 0 ? -1 : (ssize_t)total;
}
