// SPDX-License-Identifier: MIT
/* The results of `probity probe`, for people and as JSON. */
#include "runner/probe_table.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "runner/command.h"
#include "runner/table.h"
#include "runner/waterfall.h"

/* As many as a double keeps of any decimal: 0.012 stays 0.012. */
#define REAL_DIGITS 15

/* To a microsecond: more is noise. */
static json_t *seconds_json(double seconds)
{
	return json_real(round(seconds * 1e6) / 1e6);
}

static json_t *phases_json(const struct outcome *outcome)
{
	json_t *phases = json_object();

	for (enum probe_phase phase = PHASE_START; phase < PHASE_COUNT; phase++) {
		double seconds = outcome_phase_seconds(outcome, phase);

		if (seconds >= 0)
			(void)json_object_set_new(phases, phase_name(phase), seconds_json(seconds));
	}
	return phases;
}

/* All rows have the same keys; what a run without an end cannot know is null. */
static json_t *row_json(const struct probe_result *result)
{
	const struct outcome *outcome = result->outcome;
	char *output;
	json_t *json;

	if (!result->ran)
		return json_pack("{s:s, s:s, s:s, s:n, s:n, s:n, s:n, s:n, s:n}", "name",
			result->name, "id", result->id, "target", result->target, "status",
			"reason", "seconds", "output", "values", "phases");
	output = output_render(&outcome->output, result->line);
	json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:o, s:o}", "name", result->name,
		"id", result->id, "target", result->target, "status", status_name(result->status),
		"reason", reason_text(outcome->reason), "seconds",
		seconds_json(outcome->ended - outcome->started), "output", output, "values",
		measures_json(&outcome->values), "phases", phases_json(outcome));
	free(output);
	return json;
}

static json_t *result_json(const struct probe_result *result, bool verbose)
{
	json_t *json = row_json(result);

	if (verbose)
		(void)json_object_set_new(json, "trace", waterfall_json(result->outcome));
	return json;
}

static void print_json(const struct probe_result *results, size_t count, bool verbose, FILE *stream)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(array, result_json(&results[i], verbose));
	(void)json_dumpf(array, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(REAL_DIGITS));
	(void)fputc('\n', stream);
	json_decref(array);
}

static void add_result(struct table *table, const struct probe_result *result, bool verbose)
{
	const struct outcome *outcome = result->outcome;
	char duration[32];
	char *output;

	if (!result->ran) {
		table_add(table, (const char *const[]){"-", result->name, "-", "did not end"});
		return;
	}
	output = output_render(&outcome->output, result->line);
	output[strcspn(output, "\n")] = '\0';
	table_duration(outcome->ended - outcome->started, duration, sizeof(duration));
	table_add(table,
		(const char *const[]){status_name(result->status), result->name, duration, output});
	if (verbose)
		waterfall_add(table, outcome);
	free(output);
}

static void print_table(
	const struct probe_result *results, size_t count, bool verbose, FILE *stream)
{
	static const char *const titles[] = {"STATUS", "NAME", "TIME", "OUTPUT", NULL};
	struct table *table = table_create(titles);

	for (size_t i = 0; i < count; i++)
		add_result(table, &results[i], verbose);
	table_print(table, table_wants_colour(stream), stream);
	table_destroy(table);
}

int probe_table_print(const struct probe_result *results, size_t count,
	const struct probe_table_style *style, FILE *stream)
{
	int code = EXIT_FINE;

	if (style->json)
		print_json(results, count, style->verbose, stream);
	else
		print_table(results, count, style->verbose, stream);
	for (size_t i = 0; i < count; i++) {
		/* The exit codes follow the order of the statuses. */
		int one = results[i].ran ? (int)results[i].status : EXIT_COULD_NOT;

		if (!results[i].is_member)
			code = one > code ? one : code;
	}
	return code;
}
