// SPDX-License-Identifier: MIT
/* What a run means for a check: latency limits, and the words on what is not claimed. */
#include "runner/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "config/units.h"

/* Of a run that says nothing of ours: enough for a row of a table. */
#define LINE_MOST 256

void verdict_init(
	struct verdict *verdict, const struct time_limits *limits, const struct outcome *outcome)
{
	enum probe_status slow_status = PROBE_PASSING;
	double limit = time_limits_broken(limits, outcome->ended - outcome->started, &slow_status);
	char duration[UNITS_DURATION_SIZE];
	char *line;

	verdict->result = outcome->status;
	verdict->reason = outcome->reason;
	verdict->line = outcome_line(outcome);
	/* Limits on latency are for what succeeded: a failure has its own reason already. */
	if (limit <= 0 || outcome->status == PROBE_CRITICAL)
		return;
	if (slow_status > verdict->result)
		verdict->result = slow_status;
	units_print_duration(limit, duration, sizeof(duration));
	line = xprintf(
		"slower than %s%s%s", duration, *verdict->line == '\0' ? "" : "; ", verdict->line);
	free(verdict->line);
	verdict->line = line;
}

void verdict_finish(struct verdict *verdict)
{
	free(verdict->line);
	*verdict = (struct verdict){0};
}

enum probe_status verdict_status(const struct threshold_state *state, enum probe_status max_status)
{
	return state->status < max_status ? state->status : max_status;
}

/* Why the claim differs from the result, "" where it does not. */
static const char *difference(const struct verdict *verdict, const struct threshold_state *state,
	enum probe_status max_status)
{
	enum probe_status claimed = verdict_status(state, max_status);

	if (verdict->result == claimed)
		return "";
	if (verdict->result == state->status)
		return "not counted";
	return "not yet confirmed";
}

char *verdict_text(const struct verdict *verdict, const struct threshold_state *state,
	enum probe_status max_status, const struct output *output)
{
	const char *why = difference(verdict, state, max_status);
	char *line;
	char *text;

	if (*why == '\0')
		return output_render(output, verdict->line);
	line = xprintf("%s: %s%s%s", why, status_name(verdict->result),
		*verdict->line == '\0' ? "" : ": ", verdict->line);
	text = output_render(output, line);
	free(line);
	return text;
}

char *verdict_first_line(const struct verdict *verdict, const struct output *output)
{
	const char *head = output->head == NULL ? "" : output->head;
	const char *end = memchr(head, '\n', output->head_length);

	if (*verdict->line != '\0')
		return xstrdup(verdict->line);
	return output_clean_line(
		head, end == NULL ? output->head_length : (size_t)(end - head), LINE_MOST);
}
