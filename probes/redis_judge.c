// SPDX-License-Identifier: MIT
/* Replies of Redis, judged: one good one for each step, and all else is critical. */
#include "probes/redis_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/redis_state.h"

static bool is_status(const struct redis_reply *reply, const char *text)
{
	return reply->type == REDIS_STATUS && strcmp(reply->text, text) == 0;
}

/* What the server complains of. It quotes the arguments of a command that it does not know. */
static struct redis_verdict judge_error(
	const struct redis_step *step, const struct redis_reply *error)
{
	const char *end = strstr(error->text, ", with args");
	size_t length = end == NULL ? error->length : (size_t)(end - error->text);

	return redis_bad(step->kind == REDIS_AUTH ? REASON_LOGIN : REASON_REFUSED,
		xprintf("%s: %.*s", step->label, (int)length, error->text));
}

static struct redis_verdict unlike(const struct redis_step *step, const char *wanted)
{
	return redis_bad(REASON_PROTOCOL, xprintf("%s: the reply %s", step->label, wanted));
}

static struct redis_verdict judge_ok(const struct redis_step *step, const struct redis_reply *reply)
{
	if (is_status(reply, "OK"))
		return (struct redis_verdict){.status = PROBE_PASSING};
	return unlike(step, "is not OK");
}

static struct redis_verdict judge_cluster(
	const struct redis_step *step, const struct redis_reply *reply)
{
	struct redis_field state;

	if (!redis_info_find(reply, "cluster_state", &state))
		return unlike(step, "has no cluster_state");
	if (!redis_field_is(&state, "ok"))
		return redis_bad(REASON_MATCH,
			xprintf("cluster_state is %.*s, not ok", (int)state.length, state.text));
	return (struct redis_verdict){.status = PROBE_PASSING, .text = xstrdup("cluster ok")};
}

static struct redis_verdict judge_quorum(
	const struct redis_step *step, const struct redis_reply *reply)
{
	if (reply->type == REDIS_STATUS && strncmp(reply->text, "OK", 2) == 0)
		return (struct redis_verdict){
			.status = PROBE_PASSING, .text = xstrdup("quorum reachable")};
	return unlike(step, "does not begin with OK");
}

/* The whole reply as a number: NAN where it is none. */
static double number_of(const struct redis_reply *reply)
{
	char *end;
	double number;

	if (reply->type == REDIS_INTEGER)
		return (double)reply->integer;
	/* No blanks, no hexadecimal digits, no words such as inf. */
	if ((reply->type != REDIS_STRING && reply->type != REDIS_STATUS) || reply->length == 0 ||
		strspn(reply->text, "0123456789+-.eE") != reply->length)
		return NAN;
	number = strtod(reply->text, &end);
	return *end == '\0' && isfinite(number) ? number : NAN;
}

static struct redis_verdict judge_value(const struct redis_value_conf *limits,
	const struct redis_step *step, double number, struct trace *trace)
{
	const struct limit_range *broken;
	enum probe_status status =
		limits_judge(&limits->warning, &limits->critical, number, &broken);
	char *words;
	struct redis_verdict verdict = {.status = status, .reason = REASON_MATCH};

	trace_add(trace, TRACE_LIMIT, "%s = %.15g, warning %s, critical %s: %s", step->label,
		number, limits->warning.text == NULL ? "-" : limits->warning.text,
		limits->critical.text == NULL ? "-" : limits->critical.text, status_name(status));
	if (broken == NULL)
		return (struct redis_verdict){.status = PROBE_PASSING};
	words = limit_text(broken, status);
	verdict.text = xprintf("%s = %.15g is %s", step->label, number, words);
	free(words);
	return verdict;
}

static struct redis_verdict judge_number(const struct redis_conf *conf,
	const struct redis_step *step, const struct redis_reply *reply, struct measures *values,
	struct trace *trace)
{
	double number = number_of(reply);
	struct redis_verdict verdict;

	if (conf->value.warning.text == NULL && conf->value.critical.text == NULL)
		return (struct redis_verdict){.status = PROBE_PASSING};
	if (isnan(number)) {
		verdict =
			redis_bad(REASON_MATCH, xprintf("%s: the reply is no number", step->label));
		verdict.show = true;
		return verdict;
	}
	measures_add(values, step->label, number, "");
	return judge_value(&conf->value, step, number, trace);
}

static struct redis_verdict judge_text(const struct redis_conf *conf, const struct redis_step *step,
	const struct redis_reply *reply, struct trace *trace)
{
	size_t length;
	char *text = redis_reply_text(reply, &length);
	const char *error = NULL;
	enum match_result wanted =
		conf->expect == NULL ? MATCH_YES : match_bytes(conf->expect, text, length, &error);
	enum match_result unwanted = conf->reject == NULL || wanted == MATCH_ERROR
		? MATCH_NO
		: match_bytes(conf->reject, text, length, &error);
	struct redis_verdict verdict = {.status = PROBE_PASSING};

	trace_add(trace, TRACE_ASSERTION, "%s: reply of %zu bytes, expect %s, reject %s",
		step->label, length, conf->expect == NULL ? "-" : match_shown(conf->expect),
		conf->reject == NULL ? "-" : match_shown(conf->reject));
	free(text);
	if (wanted == MATCH_ERROR || unwanted == MATCH_ERROR)
		verdict = redis_bad(REASON_ENGINE, xprintf("%s: %s", step->label, error));
	else if (unwanted == MATCH_YES)
		verdict = redis_bad(REASON_MATCH,
			xprintf("%s: the reply matches what is rejected, '%s'", step->label,
				match_shown(conf->reject)));
	else if (wanted == MATCH_NO)
		verdict = redis_bad(REASON_MATCH,
			xprintf("%s: the reply does not match '%s'", step->label,
				match_shown(conf->expect)));
	verdict.show = verdict.status != PROBE_PASSING;
	return verdict;
}

static struct redis_verdict judge_command(const struct redis_conf *conf,
	const struct redis_step *step, const struct redis_reply *reply, struct measures *values,
	struct trace *trace)
{
	struct redis_verdict verdict;

	if (conf->ping && is_status(reply, "PONG"))
		return (struct redis_verdict){.status = PROBE_PASSING, .text = xstrdup("PONG")};
	if (conf->ping) {
		verdict =
			redis_bad(REASON_MATCH, xprintf("%s: the reply is not PONG", step->label));
		verdict.show = true;
		return verdict;
	}
	/* A key that is not there has no value that could be the right one. */
	if (reply->type == REDIS_NIL)
		return redis_bad(REASON_MATCH, xprintf("%s: the reply is nil", step->label));
	verdict = judge_text(conf, step, reply, trace);
	if (verdict.status == PROBE_PASSING)
		verdict = judge_number(conf, step, reply, values, trace);
	if (verdict.status == PROBE_PASSING)
		verdict.text = xprintf("%s as expected", step->label);
	return verdict;
}

struct redis_verdict redis_judge(const struct redis_conf *conf, const struct redis_step *step,
	const struct redis_reply *reply, struct measures *values, struct trace *trace)
{
	const struct redis_reply *error = redis_reply_error(reply);

	if (error != NULL)
		return judge_error(step, error);
	switch (step->kind) {
	case REDIS_AUTH:
	case REDIS_SELECT:
		return judge_ok(step, reply);
	case REDIS_REPLICATION:
		return redis_judge_replication(conf, step, reply, values, trace);
	case REDIS_CLUSTER:
		return judge_cluster(step, reply);
	case REDIS_SENTINEL:
		return redis_judge_sentinel(conf, step, reply);
	case REDIS_QUORUM:
		return judge_quorum(step, reply);
	default:
		return judge_command(conf, step, reply, values, trace);
	}
}
