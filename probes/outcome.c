// SPDX-License-Identifier: MIT
/* What one run saw, and the table of reasons. */
#include "probes/outcome.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"

/* A detail is one line beside up to OUTPUT_MAX bytes of output. */
#define LINE_MAX_BYTES 1024

static const struct {
	const char *text;
	bool local;
} reasons[REASON_COUNT] = {
	[REASON_NONE] = {.text = ""},
	[REASON_TIMEOUT] = {.text = "timed out"},
	[REASON_SIGNAL] = {.text = "killed by signal"},
	[REASON_START] = {.text = "cannot start"},
	[REASON_LOCAL_START] = {.text = "local: cannot start", .local = true},
	[REASON_UNSAFE] = {.text = "unsafe permissions"},
	[REASON_RESOLVE] = {.text = "cannot resolve"},
	[REASON_CONNECT] = {.text = "cannot connect"},
	[REASON_TLS] = {.text = "TLS failed"},
	[REASON_EXPIRY] = {.text = "ends too soon"},
	[REASON_PROTOCOL] = {.text = "protocol error"},
	[REASON_CUT] = {.text = "answer cut short"},
	[REASON_LOGIN] = {.text = "cannot log in"},
	[REASON_QUERY] = {.text = "query failed"},
	[REASON_REFUSED] = {.text = "refused by the server"},
	[REASON_STATUS] = {.text = "unexpected status"},
	[REASON_MATCH] = {.text = "assertion failed"},
	[REASON_ENGINE] = {.text = "cannot decide"},
	[REASON_REDIRECT] = {.text = "redirect refused"},
	[REASON_SECRET] = {.text = "cannot read secret"},
	[REASON_LOCAL] = {.text = "local", .local = true},
	[REASON_UNKILLABLE] = {.text = "previous run cannot be killed"},
};

static const char *const status_names[] = {
	[PROBE_PASSING] = "passing",
	[PROBE_WARNING] = "warning",
	[PROBE_CRITICAL] = "critical",
};

static const char *const phase_names[PHASE_COUNT] = {
	[PHASE_START] = "start",
	[PHASE_RESOLVE] = "resolve",
	[PHASE_CONNECT] = "connect",
	[PHASE_TLS] = "tls",
	[PHASE_SEND] = "send",
	[PHASE_RECEIVE] = "receive",
	[PHASE_RUN] = "run",
};

void outcome_clear(struct outcome *outcome)
{
	free(outcome->detail);
	free(outcome->seen);
	output_clear(&outcome->output);
	measures_clear(&outcome->values);
	trace_destroy(outcome->trace);
	*outcome = (struct outcome){0};
}

double outcome_phase_seconds(const struct outcome *outcome, enum probe_phase phase)
{
	double end = outcome->ended;

	if (outcome->phase_started[phase] <= 0)
		return -1;
	for (enum probe_phase next = phase + 1; next < PHASE_COUNT; next++) {
		if (outcome->phase_started[next] > 0) {
			end = outcome->phase_started[next];
			break;
		}
	}
	return end - outcome->phase_started[phase];
}

static void set_line(char **line, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

static void set_line(char **line, const char *format, va_list arguments)
{
	char *raw = xvprintf(format, arguments);

	free(*line);
	*line = output_clean_line(raw, strlen(raw), LINE_MAX_BYTES);
	free(raw);
}

void outcome_set_detail(struct outcome *outcome, const char *format, va_list arguments)
{
	set_line(&outcome->detail, format, arguments);
}

void outcome_set_seen(struct outcome *outcome, const char *format, va_list arguments)
{
	set_line(&outcome->seen, format, arguments);
}

const char *reason_text(enum probe_reason reason)
{
	assert(reason < REASON_COUNT);
	return reasons[reason].text;
}

bool reason_is_local(enum probe_reason reason)
{
	return reasons[reason].local;
}

char *outcome_line(const struct outcome *outcome)
{
	const char *text = reason_text(outcome->reason);
	const char *detail = outcome->detail == NULL ? "" : outcome->detail;
	/* "timed out after 2s" and "killed by signal 9" read on; the others explain. */
	bool reads_on = outcome->reason == REASON_TIMEOUT || outcome->reason == REASON_SIGNAL;
	const char *joint = *text == '\0' || *detail == '\0' ? "" : reads_on ? " " : ": ";

	if (outcome->reason == REASON_TIMEOUT && outcome->seen != NULL)
		return xprintf("%s%s%s; %s", text, joint, detail, outcome->seen);
	return xprintf("%s%s%s", text, joint, detail);
}

const char *status_name(enum probe_status status)
{
	return status_names[status];
}

const char *phase_name(enum probe_phase phase)
{
	return phase_names[phase];
}
