// SPDX-License-Identifier: MIT
/* What a run did, line by line. */
#include "probes/trace.h"

#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "probes/output.h"

static const char *const kind_names[TRACE_KINDS] = {
	[TRACE_PHASE] = "phase",
	[TRACE_ADDRESS] = "address",
	[TRACE_CERTIFICATE] = "certificate",
	[TRACE_REQUEST] = "request",
	[TRACE_ANSWER] = "answer",
	[TRACE_REDIRECT] = "redirect",
	[TRACE_STEP] = "step",
	[TRACE_ASSERTION] = "assertion",
	[TRACE_LIMIT] = "limit",
};

struct trace *trace_create(void)
{
	return xcalloc(1, sizeof(struct trace));
}

void trace_destroy(struct trace *trace)
{
	if (trace == NULL)
		return;
	for (size_t i = 0; i < trace->count; i++)
		free(trace->lines[i].text);
	free(trace);
}

void trace_addv(struct trace *trace, enum trace_kind kind, const char *format, va_list arguments)
{
	struct trace_line *line;
	char *raw;

	if (trace == NULL)
		return;
	if (trace->count == TRACE_LINES) {
		trace->left_out++;
		return;
	}
	raw = xvprintf(format, arguments);
	line = &trace->lines[trace->count++];
	line->at = clock_monotonic();
	line->kind = kind;
	line->text = output_clean_line(raw, strlen(raw), TRACE_LINE);
	free(raw);
}

void trace_add(struct trace *trace, enum trace_kind kind, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	trace_addv(trace, kind, format, arguments);
	va_end(arguments);
}

const char *trace_kind_name(enum trace_kind kind)
{
	return kind_names[kind];
}
