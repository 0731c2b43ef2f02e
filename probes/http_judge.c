// SPDX-License-Identifier: MIT
/* Verdicts on HTTP answers: (transport, status, body, assertions) -> status, reason, text. */
#include "probes/http_judge.h"

#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/match.h"
#include "probes/match_json.h"
#include "probes/probe.h"

static struct http_verdict critical(enum probe_reason reason, char *take_text)
{
	return (struct http_verdict){PROBE_CRITICAL, reason, take_text, {0}};
}

static struct trace *tracer_of(const struct http_answer *answer)
{
	return answer->probe == NULL ? NULL : probe_tracer(answer->probe);
}

/* A verdict of passing says that all assertions on headers hold. */
static struct http_verdict judge_head(const struct http_answer *answer)
{
	const struct http_head_rules rules = {
		.wanted = &answer->conf->header_match,
		.unwanted = &answer->conf->header_reject,
		.trace = tracer_of(answer),
	};
	char *text = NULL, *whole;
	bool error = false;

	if (http_head_holds(&answer->head, &rules, &text, &error))
		return (struct http_verdict){.status = PROBE_PASSING};
	whole = xprintf("HTTP %ld, %s", answer->status, text);
	free(text);
	return critical(error ? REASON_ENGINE : REASON_MATCH, whole);
}

static void trace_body(const struct http_answer *answer, const char *key, const struct match *match,
	enum match_result result)
{
	static const char *const words[] = {
		[MATCH_YES] = "is in the body",
		[MATCH_NO] = "is not in the body",
		[MATCH_ERROR] = "cannot be decided",
	};

	if (match != NULL)
		trace_add(tracer_of(answer), TRACE_ASSERTION, "%s '%s' %s", key, match_shown(match),
			words[result]);
}

/* The assertions; a verdict of passing says that all hold. */
static struct http_verdict judge_body(const struct http_answer *answer)
{
	const struct http_conf *conf = answer->conf;
	const char *bytes = answer->window == NULL ? "" : answer->window;
	enum match_result wanted = MATCH_YES, unwanted = MATCH_NO;
	const char *error = NULL;

	if (conf->body_match != NULL)
		wanted = match_bytes(conf->body_match, bytes, answer->body_bytes, &error);
	if (conf->body_reject != NULL && wanted != MATCH_ERROR)
		unwanted = match_bytes(conf->body_reject, bytes, answer->body_bytes, &error);
	trace_body(answer, "body_match", conf->body_match, wanted);
	trace_body(answer, "body_reject", conf->body_reject, unwanted);
	if (wanted == MATCH_ERROR || unwanted == MATCH_ERROR)
		return critical(REASON_ENGINE,
			xprintf("HTTP %ld, %s: %s", answer->status,
				wanted == MATCH_ERROR ? "body_match" : "body_reject", error));
	if (unwanted == MATCH_YES)
		return critical(REASON_MATCH,
			xprintf("HTTP %ld, but body_reject is in the body", answer->status));
	/* What was looked for may come behind the window, whatever it is. */
	if (answer->capped && (wanted == MATCH_NO || conf->body_reject != NULL))
		return critical(REASON_ENGINE,
			xprintf("HTTP %ld, body exceeds match window", answer->status));
	if (wanted == MATCH_NO)
		return critical(REASON_MATCH,
			xprintf("HTTP %ld, but body_match is not in the body", answer->status));
	return (struct http_verdict){.status = PROBE_PASSING};
}

/* What is asserted of a JSON body makes the verdict worse, never better. */
static struct http_verdict judge_json(const struct http_answer *answer, struct http_verdict verdict)
{
	struct json_verdict json;

	/* Half a document is none. */
	if (answer->capped)
		return critical(REASON_ENGINE,
			xprintf("HTTP %ld, body exceeds match window", answer->status));
	json = match_json(&answer->conf->json, answer->window == NULL ? "" : answer->window,
		answer->body_bytes, tracer_of(answer));
	verdict.values = json.values;
	if (json.status == PROBE_PASSING)
		return verdict;
	verdict.status = json.status > verdict.status ? json.status : verdict.status;
	verdict.reason = json.reason;
	verdict.text = xprintf("HTTP %ld, %s", answer->status, json.text);
	free(json.text);
	return verdict;
}

struct http_verdict http_judge(const struct http_answer *answer)
{
	const struct http_conf *conf = answer->conf;
	struct http_verdict verdict = {.status = PROBE_PASSING};

	if (answer->status < HTTP_STATUS_MIN)
		return critical(REASON_PROTOCOL, xstrdup("the answer is not HTTP"));
	/* libcurl takes the end of the connection for the end of the headers. */
	if (!answer->head_done)
		return critical(REASON_CUT,
			xprintf("HTTP %ld, the connection was closed inside the headers",
				answer->status));
	if (code_set_has(&conf->warning_status, answer->status))
		verdict.status = PROBE_WARNING;
	else if (!code_set_has(&conf->passing_status, answer->status))
		return critical(REASON_STATUS, xprintf("HTTP %ld", answer->status));
	if (conf->header_match.count + conf->header_reject.count > 0) {
		struct http_verdict head = judge_head(answer);

		if (head.status != PROBE_PASSING)
			return head;
	}
	if (conf->body_match != NULL || conf->body_reject != NULL) {
		struct http_verdict body = judge_body(answer);

		if (body.status != PROBE_PASSING)
			return body;
	}
	if (conf->json.count > 0)
		verdict = judge_json(answer, verdict);
	if (verdict.text == NULL)
		verdict.text = xprintf("HTTP %ld", answer->status);
	return verdict;
}

struct http_verdict http_judge_expiry(
	struct http_verdict take_verdict, const struct tls_session *tls)
{
	struct http_verdict verdict = take_verdict;
	char *text;
	enum tls_expiry expiry = tls_session_expiry(tls, &text);

	if (expiry == TLS_EXPIRY_CRITICAL)
		verdict = critical(REASON_EXPIRY, text);
	else if (expiry == TLS_EXPIRY_NOTE)
		verdict.text = xprintf("%s; %s", take_verdict.text, text);
	if (expiry != TLS_EXPIRY_FAR)
		free(take_verdict.text);
	if (expiry == TLS_EXPIRY_NOTE)
		free(text);
	return verdict;
}

struct http_verdict http_judge_failure(
	const struct http_answer *answer, const struct http_failure *failure)
{
	char *detail, *whole;
	enum probe_reason reason = http_failure_judge(failure, &detail);

	if (answer->head_too_long && reason != REASON_TLS) {
		reason = REASON_PROTOCOL;
		free(detail);
		detail = xstrdup("the headers are too long");
	}
	if (answer->status == 0 || reason == REASON_TLS)
		return critical(reason, detail);
	whole = xprintf("HTTP %ld, %s", answer->status, detail);
	free(detail);
	return critical(reason, whole);
}

char *http_answer_progress(const struct http_answer *answer)
{
	if (answer->status == 0)
		return NULL;
	return xprintf(
		"HTTP %ld, %s incomplete", answer->status, answer->head_done ? "body" : "headers");
}
