// SPDX-License-Identifier: MIT
/* The HTTP probe: asks over a fresh connection, follows redirects by its own rules, judges. */
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/curlev.h"
#include "probes/dial.h"
#include "probes/http_answer.h"
#include "probes/http_conf.h"
#include "probes/http_judge.h"
#include "probes/http_place.h"
#include "probes/http_request.h"
#include "probes/http_tls.h"
#include "probes/probe.h"

#define LONGEST_TIMEOUT 10.0 /* s: as Consul's own HTTP checks */

struct http_run {
	struct curlev_transfer transfer; /* first, so that it leads back to the run */
	CURL *easy; /* NULL where nothing is transferred */
	struct dial *dial;
	struct conf_address address;
	bool connecting; /* the name is looked up */
	bool named; /* it had to be looked up */
	bool ready; /* connected, and the handshake is over */
	struct tls_session tls;
	struct http_request request;
	struct http_answer answer;
	struct http_place place; /* where a redirect led to; empty before the first */
	char *moved; /* the same, as it may be shown; NULL before the first */
	unsigned int redirects;
};

static void on_connecting(void *owner);
static void on_dialed(void *owner, int fd, enum probe_reason reason);
static int on_ready(void *data, char *peer, char *local, int peer_port, int local_port);
static void on_done(struct curlev_transfer *transfer, CURLcode result);

static const char *const redirect_choices[] = {
	[HTTP_SAME_HOST] = "same_host",
	[HTTP_FOLLOW] = "follow",
	[HTTP_NONE] = "none",
	NULL,
};

static const struct conf_field http_fields[] = {
	CONF_URL(struct http_conf, url, .flags = CONF_REQUIRED,
		.help = "What is asked for; http or https, path and query are sent as written, a "
			"user part becomes basic authentication"),
	CONF_STRING(struct http_conf, method, .fallback = "GET", .help = "Request method"),
	CONF_SECRETS(struct http_conf, headers,
		.help = "Request headers, beside Host, User-Agent and Accept; values are never "
			"shown"),
	CONF_STRING(struct http_conf, body, .help = "Request body"),
	HTTP_STATUSES(struct http_conf, passing_status, .fallback = "[2xx]",
		.help = "Status codes that pass, as 204, 2xx or 200-299"),
	HTTP_STATUSES(struct http_conf, warning_status, .fallback = "[429]", .flags = CONF_EMPTY,
		.help = "Status codes that are a warning, [] for none; all others are critical. A "
			"warning takes the instance out of every ?passing reader's pool"),
	MATCH_PATTERN(struct http_conf, body_match,
		.help = "Regular expression that the body must match"),
	MATCH_PATTERN(struct http_conf, body_reject,
		.help = "Regular expression that the body must not match"),
	MATCH_JSON(struct http_conf, json,
		.help = "What a body that is JSON must hold, by JSON pointers, as {/status: ok, "
			"/db/lag: {max: 5}}; an unreadable body is critical"),
	CONF_CHOICE(struct http_conf, redirects, .choices = redirect_choices,
		.fallback = "same_host",
		.help = "Which redirects are followed, at most 5 of them: same_host (same scheme, "
			"host and port, or http on 80 to https on 443), follow (any host, never "
			"https to http, no credentials to another host or port), none. A refused "
			"one is critical"),
	CONF_SIZE(struct http_conf, max_body, .fallback = "1MiB", .min = 1, .max = 67108864,
		.help = "Bytes of the body that are read, after decoding; body_match, "
			"body_reject and json see as much"),
	TLS_MAP(struct http_conf, tls, .help = "How the server is verified"),
	{0},
};

static char *http_target(const void *conf)
{
	const struct http_conf *http = conf;

	if (strcmp(http->method, "GET") == 0)
		return xstrdup(http->url.shown);
	return xprintf("%s %s", http->method, http->url.shown);
}

static struct probe *probe_of(struct http_run *run)
{
	return probe_of_run(run);
}

static void stop_transfer(struct http_run *run)
{
	curlev_stop(&run->transfer);
	if (run->easy != NULL)
		curlev_give_back(curlev_shared(probe_loop(probe_of(run))), run->easy);
	run->easy = NULL;
}

/* The end of a run, in the words of the verdict, and where redirects led to. */
static void finish(
	struct http_run *run, enum probe_status status, enum probe_reason reason, const char *text)
{
	if (run->moved == NULL)
		probe_finish(probe_of(run), status, reason, "%s", text);
	else
		probe_finish(
			probe_of(run), status, reason, "%s; redirected to %s", text, run->moved);
}

static void finish_with(struct http_run *run, struct http_verdict verdict)
{
	measures_move(probe_values(probe_of(run)), &verdict.values);
	finish(run, verdict.status, verdict.reason, verdict.text);
	free(verdict.text);
}

/* Connects to where the request goes now. */
static void dial(struct http_run *run)
{
	struct probe *probe = probe_of(run);
	const struct http_conf *conf = probe_conf(probe);
	const struct http_place *place = run->request.place;
	const struct dial_setup setup = {
		.loop = probe_loop(probe),
		.trace = probe_tracer(probe),
		.address = &run->address,
		.timeout = probe_timeout(probe),
		.connecting = on_connecting,
		.done = on_dialed,
		.owner = run,
	};
	char *problem = place->tls ? tls_session_refresh(&conf->tls) : NULL;

	if (problem != NULL) {
		finish(run, PROBE_CRITICAL, REASON_TLS, problem);
		free(problem);
		return;
	}
	dial_destroy(run->dial);
	run->address = (struct conf_address){
		.host = place->host, .port = place->port, .shown = place->host};
	run->connecting = false;
	run->dial = dial_start(&setup);
	run->named = !run->connecting;
	if (run->named)
		probe_phase(probe, PHASE_RESOLVE);
}

static void http_start(struct probe *probe)
{
	struct http_run *run = probe_run(probe);
	const struct http_conf *conf = probe_conf(probe);
	char *problem = http_request_init(&run->request, conf);

	run->answer = (struct http_answer){.probe = probe, .conf = conf};
	if (problem != NULL)
		finish(run, PROBE_CRITICAL, REASON_SECRET, problem);
	else
		dial(run);
	free(problem);
}

static void on_connecting(void *owner)
{
	struct http_run *run = owner;

	run->connecting = true;
	probe_phase(probe_of(run), PHASE_CONNECT);
}

static void on_dialed(void *owner, int fd, enum probe_reason reason)
{
	struct http_run *run = owner;
	struct probe *probe = probe_of(run);
	struct curlev *curlev = curlev_shared(probe_loop(probe));
	bool tls = run->request.place->tls;

	if (fd < 0) {
		finish(run, PROBE_CRITICAL, reason, dial_report(run->dial));
		return;
	}
	probe_phase(probe, tls ? PHASE_TLS : PHASE_SEND);
	run->ready = !tls;
	run->easy = curlev_easy(curlev);
	http_request_apply(run->easy, &run->request);
	http_answer_apply(run->easy, &run->answer);
	if (tls) {
		run->tls.conf = &run->request.conf->tls;
		run->tls.trace = probe_tracer(probe);
		run->tls.anonymous = run->request.abroad;
		http_tls_apply(run->easy, &run->tls);
		(void)curl_easy_setopt(run->easy, CURLOPT_PREREQFUNCTION, on_ready);
		(void)curl_easy_setopt(run->easy, CURLOPT_PREREQDATA, run);
	}
	curlev_start_on(curlev, &run->transfer, run->easy, fd, on_done);
}

/* CURLOPT_PREREQFUNCTION(3): the handshake is over. Nothing secret goes to a stranger. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's. */
static int on_ready(void *data, char *peer, char *local, int peer_port, int local_port)
{
	struct http_run *run = data;

	(void)peer;
	(void)local;
	(void)peer_port;
	(void)local_port;
	if (!run->tls.verified)
		return CURL_PREREQFUNC_ABORT;
	run->ready = true;
	probe_phase(probe_of(run), PHASE_SEND);
	return CURL_PREREQFUNC_OK;
}

static void refuse(struct http_run *run, const char *why)
{
	const struct http_conf *conf = run->request.conf;
	char *shown = http_redact(run->answer.location);
	char *text = xprintf("HTTP %ld to %s; %s (redirects: %s)", run->answer.status, shown, why,
		redirect_choices[conf->redirects]);

	finish(run, PROBE_CRITICAL, REASON_REDIRECT, text);
	free(text);
	free(shown);
}

/* Goes where the answer's Location says, if it may. */
static void redirect(struct http_run *run)
{
	struct http_request *request = &run->request;
	struct http_place to = {0};
	const char *why = "not a URL";

	if (http_place_parse(run->answer.location, request->place->url, &to, NULL))
		why = http_refusal((enum http_redirects)request->conf->redirects, request->place,
			&to, run->redirects);
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
	dial(run);
}

static struct http_failure failure_of(const struct http_run *run, CURLcode result)
{
	struct http_failure failure = {
		.result = result,
		.tls = &run->tls,
		.name = http_request_name(&run->request),
	};
	long error = 0;

	(void)curl_easy_getinfo(run->easy, CURLINFO_OS_ERRNO, &error);
	(void)curl_easy_getinfo(run->easy, CURLINFO_SSL_VERIFYRESULT, &failure.verified);
	failure.error = (int)error;
	return failure;
}

static void judge(struct http_run *run)
{
	struct http_verdict verdict = http_judge(&run->answer);

	if (run->request.place->tls && verdict.status != PROBE_CRITICAL)
		verdict = http_judge_expiry(verdict, &run->tls);
	finish_with(run, verdict);
}

static void on_done(struct curlev_transfer *transfer, CURLcode result)
{
	struct http_run *run = (struct http_run *)transfer;
	struct http_failure failure = failure_of(run, result);

	/* Not for reuse: libcurl 7.88 would tell this errno again where a later run has none. */
	if (failure.error != 0) {
		curl_easy_cleanup(run->easy);
		run->easy = NULL;
	}
	stop_transfer(run);
	if (result != CURLE_OK && !run->answer.capped)
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
	const char *report = run->dial == NULL ? "" : dial_report(run->dial);
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

	stop_transfer(run);
	dial_destroy(run->dial);
	run->dial = NULL;
	http_request_finish(&run->request);
	http_answer_finish(&run->answer);
	http_place_finish(&run->place);
	tls_session_finish(&run->tls);
	free(run->moved);
	run->moved = NULL;
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
