// SPDX-License-Identifier: MIT
/* Answers of a database against what the configuration wants of them. */
#include "probes/sql_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "config/units.h"
#include "probes/trace.h"

/* A number of a database: some 40 digits are the most that a numeric shows in earnest. */
#define NUMBER_MOST 64

/* Adds a finding: a worse one replaces what was said, an equal one joins it. Takes the text. */
static void add(struct sql_verdict *verdict, enum probe_status status, enum probe_reason reason,
	char *take_text)
{
	char *before = verdict->text;

	if (status < verdict->status) {
		free(take_text);
		return;
	}
	if (status > verdict->status || before == NULL) {
		free(before);
		verdict->text = take_text;
		verdict->status = status;
		verdict->reason = reason;
		return;
	}
	verdict->text = xprintf("%s, %s", before, take_text);
	free(before);
	free(take_text);
}

static void judge_role(
	const struct sql_conf *conf, const struct sql_state *state, struct sql_verdict *verdict)
{
	enum sql_role role = state->replica ? SQL_ROLE_REPLICA : SQL_ROLE_PRIMARY;

	trace_add(verdict->trace, TRACE_ASSERTION, "role: %s, wanted: %s", sql_roles[role],
		sql_roles[conf->role]);
	if (conf->role != SQL_ROLE_ANY && conf->role != (int)role)
		add(verdict, PROBE_CRITICAL, REASON_MATCH,
			xprintf("the server is a %s, not a %s", sql_roles[role],
				sql_roles[conf->role]));
	else
		add(verdict, PROBE_PASSING, REASON_NONE, xstrdup(sql_roles[role]));
}

static void judge_access(
	const struct sql_conf *conf, const struct sql_state *state, struct sql_verdict *verdict)
{
	enum sql_access access = state->read_only ? SQL_ACCESS_READ_ONLY : SQL_ACCESS_READ_WRITE;
	const char *words = state->read_only ? "read-only" : "read-write";

	trace_add(verdict->trace, TRACE_ASSERTION, "access: %s, wanted: %s", sql_accesses[access],
		sql_accesses[conf->access]);
	if (conf->access == SQL_ACCESS_ANY)
		return;
	if (conf->access != (int)access)
		add(verdict, PROBE_CRITICAL, REASON_MATCH, xprintf("the server is %s", words));
	else
		add(verdict, PROBE_PASSING, REASON_NONE, xstrdup(words));
}

/* The mildest text is the limit's, not the lag's: that differs from run to run. */
static void judge_lag(
	const struct sql_conf *conf, const struct sql_state *state, struct sql_verdict *verdict)
{
	const struct time_limits *limits = &conf->max_lag;
	char words[UNITS_DURATION_SIZE];
	enum probe_status status = PROBE_PASSING;
	double broken;

	if (!sql_wants_lag(conf) || !state->replica)
		return;
	if (isnan(state->lag)) {
		trace_add(verdict->trace, TRACE_LIMIT, "lag is not known: %s", state->lag_unknown);
		add(verdict, PROBE_CRITICAL, REASON_MATCH,
			xprintf("how far the replica is behind is not known: %s",
				state->lag_unknown));
		return;
	}
	trace_add(verdict->trace, TRACE_LIMIT,
		"lag = %.3f s, note %.3f, warning %.3f, critical %.3f (0: none)", state->lag,
		limits->note, limits->warning, limits->critical);
	if (verdict->measures != NULL)
		measures_add(verdict->measures, "lag", state->lag, "s");
	broken = time_limits_broken(limits, state->lag, &status);
	if (broken <= 0)
		return;
	units_print_duration(broken, words, sizeof(words));
	add(verdict, status, status == PROBE_PASSING ? REASON_NONE : REASON_MATCH,
		xprintf("the replica is more than %s behind", words));
}

void sql_judge_state(
	const struct sql_conf *conf, const struct sql_state *state, struct sql_verdict *verdict)
{
	judge_role(conf, state, verdict);
	judge_access(conf, state, verdict);
	judge_lag(conf, state, verdict);
}

/* Reads a whole value as a number; NAN where it is none (or is not finite). */
static double read_number(const struct sql_answer *answer)
{
	char text[NUMBER_MOST + 1];
	char *end;
	double number;

	/* strtod() takes blanks, hexadecimal and words such as "inf" besides. */
	if (answer->length == 0 || answer->length > NUMBER_MOST)
		return NAN;
	memcpy(text, answer->value, answer->length);
	text[answer->length] = '\0';
	if (strspn(text, "0123456789+-.eE") != answer->length)
		return NAN;
	number = strtod(text, &end);
	return *end == '\0' && isfinite(number) ? number : NAN;
}

static void judge_expect(
	const struct sql_conf *conf, const struct sql_answer *answer, struct sql_verdict *verdict)
{
	char *shown = output_clean_line(answer->value, answer->length, SQL_SHOWN);
	const char *error = NULL;
	enum match_result result = match_bytes(conf->expect, answer->value, answer->length, &error);

	trace_add(verdict->trace, TRACE_ASSERTION, "first column '%s', expect '%s': %s", shown,
		match_shown(conf->expect), result == MATCH_YES ? "matches" : "does not match");
	if (result == MATCH_ERROR)
		add(verdict, PROBE_CRITICAL, REASON_ENGINE, xprintf("expect: %s", error));
	else if (result == MATCH_NO)
		add(verdict, PROBE_CRITICAL, REASON_MATCH,
			xprintf("the first column '%s' does not match '%s'", shown,
				match_shown(conf->expect)));
	free(shown);
}

static void judge_number(
	const struct sql_conf *conf, const struct sql_answer *answer, struct sql_verdict *verdict)
{
	const struct sql_value *value = &conf->value;
	char *shown = output_clean_line(answer->value, answer->length, SQL_SHOWN);
	double number = read_number(answer);
	const struct limit_range *broken;
	enum probe_status status = limits_judge(&value->warning, &value->critical, number, &broken);
	char *words;

	trace_add(verdict->trace, TRACE_LIMIT, "value = %s, warning %s, critical %s: %s", shown,
		value->warning.text == NULL ? "-" : value->warning.text,
		value->critical.text == NULL ? "-" : value->critical.text,
		isnan(number) ? "not a number" : status_name(status));
	if (isnan(number)) {
		add(verdict, PROBE_CRITICAL, REASON_MATCH,
			xprintf("the first column '%s' is not a number", shown));
	} else if (broken != NULL) {
		words = limit_text(broken, status);
		add(verdict, status, REASON_MATCH, xprintf("the value %s is %s", shown, words));
		free(words);
	}
	if (!isnan(number) && verdict->measures != NULL)
		measures_add(verdict->measures, "value", number, "");
	free(shown);
}

void sql_judge_answer(
	const struct sql_conf *conf, const struct sql_answer *answer, struct sql_verdict *verdict)
{
	bool has_limits = conf->value.warning.text != NULL || conf->value.critical.text != NULL;

	if (conf->expect == NULL && !has_limits)
		return;
	if (answer->rows == 0 || answer->value == NULL) {
		add(verdict, PROBE_CRITICAL, REASON_MATCH,
			xstrdup(answer->rows == 0 ? "the query returned no row"
						  : "the first column is NULL"));
		return;
	}
	if (conf->expect != NULL)
		judge_expect(conf, answer, verdict);
	if (has_limits)
		judge_number(conf, answer, verdict);
}

void sql_verdict_finish(struct sql_verdict *verdict)
{
	free(verdict->text);
	verdict->text = NULL;
}
