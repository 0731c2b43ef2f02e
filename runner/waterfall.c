// SPDX-License-Identifier: MIT
/* A trace as lines: when, what, and for a phase how long, with a bar on the scale of the run. */
#include "runner/waterfall.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"

#define BAR_WIDTH 32 /* columns; with the others a phase fits into 80 */

/* "12.3 ms"; a run may last an hour. */
static void show_time(double seconds, char *text, size_t size)
{
	if (seconds < 10)
		(void)snprintf(text, size, "%.1f ms", seconds * 1000);
	else
		(void)snprintf(text, size, "%.1f s", seconds);
}

/* The end of the phase that line `index` begins. */
static double phase_end(const struct outcome *outcome, size_t index)
{
	const struct trace *trace = outcome->trace;

	for (size_t i = index + 1; i < trace->count; i++) {
		if (trace->lines[i].kind == TRACE_PHASE)
			return trace->lines[i].at;
	}
	return outcome->ended;
}

/* The share of the run from `from` to `to`, at least one column of it. */
static void draw_bar(const struct outcome *outcome, double from, double to, char *bar)
{
	double total = outcome->ended - outcome->started;
	double scale = total > 0 ? BAR_WIDTH / total : 0;
	int first = (int)fmin(floor((from - outcome->started) * scale), BAR_WIDTH - 1);
	int last = (int)fmin(ceil((to - outcome->started) * scale), BAR_WIDTH);

	first = first < 0 ? 0 : first;
	last = last <= first ? first + 1 : last;
	memset(bar, ' ', BAR_WIDTH);
	memset(bar + first, '#', (size_t)(last - first));
	bar[BAR_WIDTH] = '\0';
}

static char *phase_line(const struct outcome *outcome, size_t index, const char *at)
{
	const struct trace_line *line = &outcome->trace->lines[index];
	double end = phase_end(outcome, index);
	char duration[32], bar[BAR_WIDTH + 1];

	show_time(end - line->at, duration, sizeof(duration));
	draw_bar(outcome, line->at, end, bar);
	return xprintf("%10s  %-12s %10s  |%s|", at, line->text, duration, bar);
}

void waterfall_add(struct table *table, const struct outcome *outcome)
{
	const struct trace *trace = outcome->trace;
	char *text;

	for (size_t i = 0; trace != NULL && i < trace->count; i++) {
		const struct trace_line *line = &trace->lines[i];
		char at[32];

		show_time(line->at - outcome->started, at, sizeof(at));
		text = line->kind == TRACE_PHASE
			? phase_line(outcome, i, at)
			: xprintf("%10s    %-12s %s", at, trace_kind_name(line->kind), line->text);
		table_add_note(table, text);
		free(text);
	}
	if (trace == NULL || trace->left_out == 0)
		return;
	text = xprintf("%10s    %zu more lines left out", "", trace->left_out);
	table_add_note(table, text);
	free(text);
}

json_t *waterfall_json(const struct outcome *outcome)
{
	const struct trace *trace = outcome->trace;
	json_t *lines = json_array();

	if (trace == NULL) {
		json_decref(lines);
		return json_null();
	}
	for (size_t i = 0; i < trace->count; i++) {
		const struct trace_line *line = &trace->lines[i];

		(void)json_array_append_new(lines,
			json_pack("{s:f, s:s, s:s}", "at",
				round((line->at - outcome->started) * 1e6) / 1e6, "kind",
				trace_kind_name(line->kind), "text", line->text));
	}
	return lines;
}
