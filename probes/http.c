// SPDX-License-Identifier: MIT
/* The HTTP probe: asks over a fresh connection, follows redirects by its own rules, judges. */
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/http_kept.h"
#include "probes/http_run.h"

#define LONGEST_TIMEOUT 10.0 /* s: as Consul's own HTTP checks */

static char *http_target(const void *conf)
{
	const struct http_conf *http = conf;

	if (strcmp(http->method, "GET") == 0)
		return xstrdup(http->url.shown);
	return xprintf("%s %s", http->method, http->url.shown);
}

static const struct http_conf *conf_of(struct http_run *run)
{
	return probe_conf(probe_of_run(run));
}

/* The end of a run, in the words of the verdict, and where redirects led to. */
static void finish(
	struct http_run *run, enum probe_status status, enum probe_reason reason, const char *text)
{
	const char *family = conf_of(run)->ip != HTTP_IP_BOTH ? ""
		: run->second                                 ? "IPv6: "
							      : "IPv4: ";

	probe_finish(probe_of_run(run), status, reason, "%s%s%s%s",
		status == PROBE_PASSING ? "" : family, text,
		run->moved == NULL ? "" : "; redirected to ", run->moved == NULL ? "" : run->moved);
}

void http_fail(struct http_run *run, enum probe_reason reason, const char *text)
{
	finish(run, PROBE_CRITICAL, reason, text);
}

static void forget_redirects(struct http_run *run)
{
	http_place_finish(&run->place);
	free(run->moved);
	run->moved = NULL;
	run->redirects = 0;
}

/* ip: both, and the first of the two is not critical: the other one has its turn. */
static void try_second(struct http_run *run, struct http_verdict take_verdict)
{
	run->first = take_verdict;
	run->second = true;
	forget_redirects(run);
	http_request_rewind(&run->request);
	http_begin(run);
}

static void finish_with(struct http_run *run, struct http_verdict verdict)
{
	struct http_verdict *worst = &verdict;

	if (conf_of(run)->ip == HTTP_IP_BOTH && !run->second && verdict.status != PROBE_CRITICAL) {
		try_second(run, verdict);
		return;
	}
	if (run->second && run->first.status > verdict.status) {
		worst = &run->first;
		run->second = false;
	}
	measures_move(probe_values(probe_of_run(run)), &worst->values);
	finish(run, worst->status, worst->reason, worst->text);
	free(verdict.text);
	measures_clear(&verdict.values);
}

static void http_start(struct probe *probe)
{
	struct http_run *run = probe_run(probe);
	const struct http_conf *conf = probe_conf(probe);
	char *problem = http_request_init(&run->request, conf);

	run->answer = (struct http_answer){.probe = probe, .conf = conf};
	if (problem != NULL)
		http_fail(run, REASON_SECRET, problem);
	else
		http_begin(run);
	free(problem);
}

static void refuse(struct http_run *run, const char *why)
{
	const struct http_conf *conf = run->request.conf;
	char *shown = http_redact(run->answer.location);
	char *text = xprintf("HTTP %ld to %s; %s (redirects: %s)", run->answer.status, shown, why,
		http_redirect_choices[conf->redirects]);

	probe_trace(probe_of_run(run), TRACE_REDIRECT, "%s", text);
	http_fail(run, REASON_REDIRECT, text);
	free(text);
	free(shown);
}

/* Why the request must not go there; static text, NULL if it may. */
static const char *refusal_of(const struct http_run *run, const struct http_place *to)
{
	const struct http_request *request = &run->request;
	const struct http_conf *conf = request->conf;
	const char *why = http_refusal(
		(enum http_redirects)conf->redirects, request->place, to, run->redirects);

	/* From http to https is another port, and a socket has none. */
	if (why == NULL && conf->unix_socket != NULL && conf->redirects == HTTP_SAME_HOST &&
		!http_place_same(request->place, to))
		return "the socket has no other scheme";
	return why;
}

/* Goes where the answer's Location says, if it may. */
static void redirect(struct http_run *run)
{
	struct http_request *request = &run->request;
	struct http_place to = {0};
	const char *why = "not a URL";

	if (http_place_parse(run->answer.location, request->place->url, &to, NULL))
		why = refusal_of(run, &to);
	if (why != NULL) {
		refuse(run, why);
		http_place_finish(&to);
		return;
	}
	request->abroad = request->abroad || !http_place_same(request->place, &to);
	if (http_redirected_method(request->method, run->answer.status) != request->method) {
		request->method = "GET";
		request->bare = true;
	}
	http_place_finish(&run->place);
	run->place = to;
	request->place = &run->place;
	free(run->moved);
	run->moved = http_redact(to.url);
	run->redirects++;
	probe_trace(probe_of_run(run), TRACE_REDIRECT, "HTTP %ld to %s", run->answer.status,
		run->moved);
	http_begin(run);
}

static struct http_failure failure_of(const struct http_run *run, CURLcode result)
{
	struct http_failure failure = {
		.result = result,
		.tls = run->tls,
		.name = http_request_name(&run->request),
		.socket = run->dial == NULL ? run->request.conf->unix_socket : NULL,
	};

	http_failure_ask(&failure, run->easy);
	return failure;
}

static void judge(struct http_run *run)
{
	struct http_verdict verdict = http_judge(&run->answer);

	if (run->request.place->tls && verdict.status != PROBE_CRITICAL)
		verdict = http_judge_expiry(verdict, run->tls);
	finish_with(run, verdict);
}

/* The version that was spoken, as a status line has it. */
static const char *version_of(const struct http_run *run)
{
	long version = 0;

	(void)curl_easy_getinfo(run->easy, CURLINFO_HTTP_VERSION, &version);
	switch (version) {
	case CURL_HTTP_VERSION_1_0:
		return "/1.0";
	case CURL_HTTP_VERSION_1_1:
		return "/1.1";
	case CURL_HTTP_VERSION_2_0:
		return "/2";
	default:
		return "";
	}
}

static void trace_answer(struct http_run *run, CURLcode result)
{
	const char *end = run->answer.capped ? ", cut at max_body"
		: result != CURLE_OK         ? ", not whole"
					     : "";

	if (run->answer.status != 0)
		probe_trace(probe_of_run(run), TRACE_ANSWER,
			"HTTP%s %ld, %zu bytes of headers, %zu bytes of body%s", version_of(run),
			run->answer.status, run->answer.head_bytes, run->answer.body_bytes, end);
}

/* True where HTTP/2 was asked for and something else is spoken. */
static bool is_old_version(struct http_run *run)
{
	long version = CURL_HTTP_VERSION_2_0;

	if (conf_of(run)->http_version != HTTP_VERSION_2 || run->easy == NULL)
		return false;
	(void)curl_easy_getinfo(run->easy, CURLINFO_HTTP_VERSION, &version);
	return version != CURL_HTTP_VERSION_2_0;
}

/*
 * A kept connection that the server has closed meanwhile is no fault of the server: where
 * nothing of an answer came over it, the request goes out once more over a fresh one.
 */
static bool was_stale(struct http_run *run, CURLcode result)
{
	return run->reused && result != CURLE_OK && run->answer.status == 0;
}

/* fresh: libcurl made a new connection, whether we asked for one or the old one was closed. */
static void settle_kept(struct http_run *run, CURLcode result, bool fresh)
{
	struct http_kept *kept = conf_of(run)->kept;

	if (kept == NULL || run->redirects > 0)
		return;
	if (fresh || result != CURLE_OK)
		http_kept_drop(kept);
	if (result == CURLE_OK)
		http_kept_keep(kept);
}

static bool is_fresh(const struct http_run *run)
{
	long made = 0;

	(void)curl_easy_getinfo(run->easy, CURLINFO_NUM_CONNECTS, &made);
	return made > 0;
}

void http_done(struct curlev_transfer *transfer, CURLcode result)
{
	struct http_run *run = (struct http_run *)transfer;
	struct http_failure failure = failure_of(run, result);
	bool answered = result == CURLE_OK || run->answer.capped;
	bool old = answered && is_old_version(run);
	bool stale = was_stale(run, result);
	bool fresh = is_fresh(run);

	trace_answer(run, result);
	/* Not for reuse: libcurl 7.88 would tell this errno again where a later run has none. */
	if (failure.error != 0) {
		curl_easy_cleanup(run->easy);
		run->easy = NULL;
	}
	http_stop(run);
	settle_kept(run, result, fresh);
	if (stale)
		http_begin(run);
	else if (old)
		http_fail(run, REASON_PROTOCOL, "the server does not speak HTTP/2");
	else if (!answered)
		finish_with(run, http_judge_failure(&run->answer, &failure));
	else if (http_answer_redirects(&run->answer))
		redirect(run);
	else
		judge(run);
}

/* What the run has come to, for the line about the timeout. */
static void http_expire(struct probe *probe)
{
	struct http_run *run = probe_run(probe);
	char *progress = run->easy == NULL ? NULL : http_answer_progress(&run->answer);
	const char *path = run->request.conf->unix_socket;
	const char *report = run->dial != NULL ? dial_report(run->dial)
		: path != NULL                 ? path
					       : "kept connection";
	const char *more = "";

	if (progress == NULL && run->easy != NULL)
		more = run->ready ? ", no answer" : ", no TLS handshake";
	/* An address that the user wrote need not be told again. */
	if (progress != NULL && !run->named)
		report = "";
	probe_seen(probe, "%s%s%s%s%s%s", progress == NULL ? "" : progress,
		progress == NULL || *report == '\0' ? "" : "; ", report, more,
		run->moved == NULL ? "" : "; redirected to ", run->moved == NULL ? "" : run->moved);
	free(progress);
}

static void http_cancel(struct probe *probe)
{
	struct http_run *run = probe_run(probe);
	const struct http_conf *conf = probe_conf(probe);

	/* libcurl closes a connection that it is taken off in the middle. */
	if (run->easy != NULL && conf->kept != NULL)
		http_kept_drop(conf->kept);
	http_stop(run);
	dial_destroy(run->dial);
	run->dial = NULL;
	http_request_finish(&run->request);
	http_answer_finish(&run->answer);
	tls_session_finish(&run->own_tls);
	forget_redirects(run);
	free(run->first.text);
	measures_clear(&run->first.values);
	run->first = (struct http_verdict){0};
}

const struct probe_type probe_http = {
	.conf =
		{
			.name = "http",
			.summary = "Asks a web server and judges its answer",
			.fields = http_fields,
			.size = sizeof(struct http_conf),
			.shorthand = "url",
			.check = http_check,
			.example =
				"service: {id: web-1}\n"
				"checks:\n"
				"  - name: orders\n"
				"    http:\n"
				"      url: https://web.internal/orders/selftest\n"
				"      headers: {Authorization: {file: /run/secrets/selftest, "
				"prefix: 'Bearer '}}\n"
				"      body_match: '\"result\":\\s*\"ok\"'\n"
				"      json: {/db/lag_seconds: {max: 5}}\n"
				"      tls: {ca_file: /etc/ssl/internal.pem, expires: {note: 14d, "
				"critical: 2d}}\n"
				"    max_latency: {note: 300ms, critical: 2s}\n",
		},
	.run_size = sizeof(struct http_run),
	.longest_timeout = LONGEST_TIMEOUT,
	.target = http_target,
	.start = http_start,
	.expire = http_expire,
	.cancel = http_cancel,
};
