// SPDX-License-Identifier: MIT
/* A call over a connection of its own: dialled, handed to libcurl, looked at, judged. */
#include "probes/grpc_call.h"

#include <stdlib.h>

#include "config/arena.h"
#include "probes/dial_address.h"
#include "probes/http_failure.h"
#include "probes/trace.h"

static void on_connecting(void *owner);
static void on_dialed(void *owner, int fd, enum probe_reason reason);
static bool on_ready(void *owner);
static void on_found(void *owner, struct grpc_finding finding);
static size_t on_line(char *line, size_t one, size_t length, void *data);
static size_t on_body(char *bytes, size_t one, size_t length, void *data);
static void on_done(struct curlev_transfer *transfer, CURLcode result);

static void enter(struct grpc_call *call, enum probe_phase phase)
{
	if (call->setup.entered != NULL)
		call->setup.entered(call->setup.owner, phase);
}

/* Lets go of libcurl; what was seen stays, for the verdict. */
static void stop(struct grpc_call *call)
{
	grpc_look_stop(&call->look);
	curlev_stop(&call->transfer);
	if (call->easy != NULL)
		curlev_give_back(call->curlev, call->easy);
	call->easy = NULL;
}

static void end(struct grpc_call *call, struct grpc_verdict take_verdict)
{
	stop(call);
	call->setup.ended(call->setup.owner, take_verdict);
}

static void fail(struct grpc_call *call, enum probe_reason reason, char *take_text)
{
	end(call, (struct grpc_verdict){PROBE_CRITICAL, reason, take_text});
}

/* Over a connected socket; fd -1: libcurl connects to the unix socket. */
static void transfer(struct grpc_call *call, int fd)
{
	const struct grpc_conf *conf = call->setup.conf;
	bool tls = conf->tls != NULL;

	call->curlev = curlev_shared(call->setup.loop);
	call->easy = curlev_easy(call->curlev);
	grpc_request_apply(call->easy, &call->request, tls);
	(void)curl_easy_setopt(call->easy, CURLOPT_HEADERFUNCTION, on_line);
	(void)curl_easy_setopt(call->easy, CURLOPT_HEADERDATA, call);
	(void)curl_easy_setopt(call->easy, CURLOPT_WRITEFUNCTION, on_body);
	(void)curl_easy_setopt(call->easy, CURLOPT_WRITEDATA, call);
	call->tls.conf = conf->tls;
	call->tls.trace = call->setup.trace;
	if (tls)
		http_tls_apply(call->easy, &call->tls);
	call->on_ready = (struct http_ready){tls ? &call->tls : NULL, on_ready, call};
	http_ready_apply(call->easy, &call->on_ready);
	/* Nobody else notices that a quiet connection is dead. */
	if (call->setup.message != NULL)
		(void)curl_easy_setopt(call->easy, CURLOPT_TCP_KEEPALIVE, 1L);
	if (fd < 0) {
		(void)curl_easy_setopt(call->easy, CURLOPT_UNIX_SOCKET_PATH, conf->address.path);
		curlev_start(call->curlev, &call->transfer, call->easy, on_done);
		return;
	}
	curlev_start_on(call->curlev, &call->transfer, call->easy, fd, on_done);
	if (!tls) {
		call->look = (struct grpc_look){
			.loop = call->setup.loop, .fd = fd, .found = on_found, .owner = call};
		grpc_look_start(&call->look);
	}
}

static void connect_to(struct grpc_call *call)
{
	const struct grpc_conf *conf = call->setup.conf;
	struct sockaddr_storage address;

	if (conf->address.path != NULL) {
		enter(call, PHASE_CONNECT);
		transfer(call, -1);
		return;
	}
	if (!address_parse(conf->address.host, &address))
		enter(call, PHASE_RESOLVE);
	call->dial = dial_start(&(struct dial_setup){
		.loop = call->setup.loop,
		.trace = call->setup.trace,
		.address = &conf->address,
		.family = (enum dial_family)conf->ip,
		.timeout = call->setup.timeout,
		.connecting = on_connecting,
		.done = on_dialed,
		.owner = call,
	});
}

void grpc_call_start(struct grpc_call *call, const struct grpc_call_setup *setup)
{
	const struct grpc_conf *conf = setup->conf;
	char *problem = grpc_request_init(&call->request, conf, setup->method, setup->timeout);

	call->setup = *setup;
	call->answer.stream.most = setup->message == NULL;
	if (problem != NULL) {
		fail(call, REASON_SECRET, problem);
		return;
	}
	trace_add(setup->trace, TRACE_REQUEST, "%s of '%s' at %s", setup->method, conf->service,
		conf->host_line + sizeof("Host:"));
	problem = conf->tls == NULL ? NULL : tls_session_refresh(conf->tls);
	if (problem != NULL)
		fail(call, REASON_TLS, problem);
	else
		connect_to(call);
}

static void on_connecting(void *owner)
{
	enter(owner, PHASE_CONNECT);
}

static void on_dialed(void *owner, int fd, enum probe_reason reason)
{
	struct grpc_call *call = owner;

	if (fd < 0) {
		fail(call, reason, xstrdup(dial_report(call->dial)));
		return;
	}
	if (call->setup.conf->tls != NULL)
		enter(call, PHASE_TLS);
	transfer(call, fd);
}

/* Without HTTP/2 the request would go out in the words of HTTP/1.1, metadata and all. */
static bool on_ready(void *owner)
{
	struct grpc_call *call = owner;

	call->other_version = call->setup.conf->tls != NULL && !call->tls.http2;
	if (call->other_version)
		return false;
	call->ready = true;
	enter(call, PHASE_SEND);
	return true;
}

static void on_found(void *owner, struct grpc_finding finding)
{
	fail(owner, finding.reason, xstrdup(finding.text));
}

/* CURLOPT_HEADERFUNCTION(3): whole lines, those of trailers too. */
static size_t on_line(char *line, size_t one, size_t length, void *data)
{
	struct grpc_call *call = data;

	(void)one;
	if (call->answer.head_bytes == 0)
		enter(call, PHASE_RECEIVE);
	return grpc_answer_line(&call->answer, line, length) ? length : 0;
}

/* CURLOPT_WRITEFUNCTION(3). */
static size_t on_body(char *bytes, size_t one, size_t length, void *data)
{
	struct grpc_call *call = data;
	unsigned int count = call->answer.stream.count;
	bool fine = grpc_answer_body(&call->answer, bytes, length);

	(void)one;
	if (call->setup.message != NULL && call->answer.stream.count != count)
		call->setup.message(call->setup.owner);
	return fine ? length : 0;
}

/* The certificate has its own word on an answer that is fine. */
static struct grpc_verdict judge_expiry(
	const struct tls_session *tls, struct grpc_verdict take_verdict)
{
	struct grpc_verdict verdict = take_verdict;
	char *text;
	enum tls_expiry expiry = tls_session_expiry(tls, &text);

	if (expiry == TLS_EXPIRY_FAR)
		return verdict;
	if (expiry == TLS_EXPIRY_CRITICAL) {
		verdict = (struct grpc_verdict){PROBE_CRITICAL, REASON_EXPIRY, text};
	} else {
		verdict.text = xprintf("%s; %s", take_verdict.text, text);
		free(text);
	}
	free(take_verdict.text);
	return verdict;
}

/* Which of these it is depends on moments. */
static bool is_cut(const struct http_failure *failure)
{
	return failure->result == CURLE_PARTIAL_FILE || failure->result == CURLE_GOT_NOTHING ||
		failure->result == CURLE_RECV_ERROR || failure->result == CURLE_SEND_ERROR;
}

static const char *cut_text(const struct grpc_call *call)
{
	const struct tls_conf *tls = call->setup.conf->tls;

	if (call->answer.status != 0)
		return "the connection was closed inside the answer";
	/* Many servers say nothing about that: TLS 1.3 lets the client send before. */
	if (tls != NULL && tls->identity == NULL)
		return "the connection was closed without an answer; does the server want a "
		       "client certificate?";
	return "the connection was closed without an answer";
}

static struct grpc_verdict judge_failure(
	const struct grpc_call *call, const struct http_failure *failure)
{
	struct grpc_verdict verdict = {.status = PROBE_CRITICAL};
	const struct grpc_finding finding = grpc_look_last(&call->look);

	if (finding.reason != REASON_NONE) {
		verdict.reason = finding.reason;
		verdict.text = xstrdup(finding.text);
		return verdict;
	}
	if (call->other_version) {
		verdict.reason = REASON_PROTOCOL;
		verdict.text = xstrdup("the server does not agree to HTTP/2 (ALPN)");
		return verdict;
	}
	/* libcurl then tries once more, for which it gets no second connection. */
	if (failure->result == CURLE_COULDNT_CONNECT && call->ready) {
		verdict.reason = REASON_CUT;
		verdict.text = xstrdup("the server did not take the request");
		return verdict;
	}
	if (is_cut(failure) && call->tls.alert == NULL) {
		verdict.reason = REASON_CUT;
		verdict.text = xstrdup(cut_text(call));
		return verdict;
	}
	verdict.reason = http_failure_judge(failure, &verdict.text);
	return verdict;
}

static void trace_answer(const struct grpc_call *call)
{
	const struct grpc_answer *answer = &call->answer;

	if (answer->status != 0)
		trace_add(call->setup.trace, TRACE_ANSWER,
			"HTTP/2 %ld, %u messages, grpc-status %s", answer->status,
			answer->stream.count, answer->code == NULL ? "missing" : answer->code);
}

static void on_done(struct curlev_transfer *transfer, CURLcode result)
{
	struct grpc_call *call = (struct grpc_call *)transfer;
	const struct grpc_conf *conf = call->setup.conf;
	struct http_failure failure = {
		.result = result,
		.tls = &call->tls,
		.name = conf->tls_name,
		.socket = conf->address.path,
	};
	struct grpc_verdict verdict;

	http_failure_ask(&failure, call->easy);
	/* Not for reuse: libcurl 7.88 would tell this errno again where a later run has none. */
	if (failure.error != 0) {
		curl_easy_cleanup(call->easy);
		call->easy = NULL;
	}
	trace_answer(call);
	if (result == CURLE_OK || grpc_answer_is_broken(&call->answer))
		verdict = grpc_answer_judge(&call->answer, conf->service);
	else
		verdict = judge_failure(call, &failure);
	if (verdict.status == PROBE_PASSING && conf->tls != NULL)
		verdict = judge_expiry(&call->tls, verdict);
	end(call, verdict);
}

char *grpc_call_progress(struct grpc_call *call)
{
	const char *path = call->setup.conf->address.path;
	const char *progress = grpc_answer_progress(&call->answer);

	if (progress == NULL)
		progress = call->ready ? "no answer" : "no TLS handshake";
	if (path != NULL && !call->ready && call->setup.conf->tls == NULL)
		return xprintf("%s no answer", path);
	if (path != NULL)
		return xprintf("%s connected, %s", path, progress);
	if (call->easy == NULL)
		return xstrdup(dial_report(call->dial));
	return xprintf("%s, %s", dial_report(call->dial), progress);
}

void grpc_call_finish(struct grpc_call *call)
{
	stop(call);
	dial_destroy(call->dial);
	grpc_request_finish(&call->request);
	grpc_answer_finish(&call->answer);
	tls_session_finish(&call->tls);
	*call = (struct grpc_call){0};
}
