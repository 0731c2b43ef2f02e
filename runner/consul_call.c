// SPDX-License-Identifier: MIT
/* One call to the agent: name lookup, transfer and deadline, and the judgement of all three. */
#include "runner/consul_call.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "probes/secret.h"
#include "runner/consul_text.h"

#define PUT_ANSWER 4096 /* bytes: empty where it went well, else one line */

struct consul_call {
	struct consul *consul;
	struct consul_call *next, *previous;
	struct consul_reply reply;
	struct curlev *curlev; /* consul's, one of the two */
	double patience;
	bool apart, list;
	bool put;
	char *path;
	char *body; /* what a PUT sends */
	size_t most;

	struct resolve_query *query;
	struct curlev_transfer transfer;
	CURL *easy;
	struct curl_slist *headers;
	struct curl_slist *addresses;
	double started; /* monotonic */
	ev_timer deadline;
	bool expiring;
	enum consul_result refusal; /* with problem */
	char *problem; /* why it cannot be made; NULL: it can */

	char *answer;
	size_t length, room;
	bool too_long;
};

static void detach(struct consul_call *call)
{
	struct consul *consul = call->consul;

	if (call->next != NULL)
		call->next->previous = call->previous;
	if (call->previous != NULL)
		call->previous->next = call->next;
	else
		consul->calls = call->next;
	ev_timer_stop(consul->setup.loop, &call->deadline);
	resolve_cancel(call->query);
	curlev_stop(&call->transfer);
	curlev_give_back(call->curlev, call->easy);
}

static void release(struct consul_call *call)
{
	/* The one header that is secret is first. */
	if (call->headers != NULL)
		explicit_bzero(call->headers->data, strlen(call->headers->data));
	curl_slist_free_all(call->headers);
	curl_slist_free_all(call->addresses);
	free(call->path);
	free(call->body);
	free(call->answer);
	free(call->problem);
	free(call);
}

/* Has any of the request left? Asked before the transfer is stopped. */
static bool was_sent(const struct consul_call *call)
{
	long bytes = 0;

	if (call->easy != NULL)
		(void)curl_easy_getinfo(call->easy, CURLINFO_REQUEST_SIZE, &bytes);
	return bytes > 0;
}

bool consul_cancel(struct consul_call *call)
{
	bool sent = was_sent(call);

	detach(call);
	release(call);
	return sent;
}

/* RFC 9110, 10.2.3: in seconds or as a date, which libcurl makes seconds of. */
static double retry_after(const struct consul_call *call, int code)
{
	curl_off_t seconds = 0;

	if (call->easy != NULL && code >= 400)
		(void)curl_easy_getinfo(call->easy, CURLINFO_RETRY_AFTER, &seconds);
	return (double)seconds;
}

/* Ends the call. The caller may start others from inside done. */
static void end(struct consul_call *call, enum consul_result result, int code, char *take_cause,
	json_t *take_json)
{
	const struct consul_answer answer = {.result = result,
		.code = code,
		.retry_after = retry_after(call, code),
		.cause = take_cause == NULL ? "" : take_cause,
		.json = take_json};
	struct consul_reply reply = call->reply;

	detach(call);
	release(call);
	reply.done(reply.owner, &answer);
	free(take_cause);
	json_decref(take_json);
}

static void end_without_answer(struct consul_call *call, const char *cause)
{
	end(call, was_sent(call) ? CONSUL_ABANDONED : CONSUL_REFUSED, 0, xstrdup(cause), NULL);
}

static void judge_answer(struct consul_call *call, int code)
{
	enum consul_result result = consul_text_result(code);
	json_t *json = NULL;

	if (result != CONSUL_OK) {
		end(call, result, code,
			consul_text_cause(
				code, call->answer, call->length, call->consul->token.value),
			NULL);
		return;
	}
	if (!call->put) {
		json = json_loadb(call->answer == NULL ? "" : call->answer, call->length, 0, NULL);
		if (call->list ? !json_is_array(json) : !json_is_object(json)) {
			json_decref(json);
			end(call, CONSUL_FAILED, code, xstrdup("200 with an unreadable answer"),
				NULL);
			return;
		}
	}
	end(call, CONSUL_OK, code, NULL, json);
}

static void on_done(struct curlev_transfer *transfer, CURLcode result)
{
	struct consul_call *call =
		(struct consul_call *)((char *)transfer - offsetof(struct consul_call, transfer));
	long code = 0, error = 0;
	bool refused = false;
	char *text;

	(void)curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &code);
	(void)curl_easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &error);
	if (call->too_long)
		end(call, CONSUL_FAILED, (int)code, xstrdup("an answer that is too long"), NULL);
	else if (result == CURLE_OK && code >= 200)
		judge_answer(call, (int)code);
	else if ((text = consul_tls_failure(&call->consul->tls, call->easy, result, &refused)) !=
		NULL)
		end(call, refused ? CONSUL_REFUSED : CONSUL_ABANDONED, 0, text, NULL);
	else if (result == CURLE_COULDNT_CONNECT && error != 0)
		end_without_answer(call, strerror((int)error));
	else /* never the error buffer, which holds times and ports */
		end_without_answer(call, curl_easy_strerror(result));
}

/* CURLOPT_WRITEFUNCTION */
static size_t on_bytes(char *bytes, size_t size, size_t count, void *data)
{
	struct consul_call *call = data;
	size_t length = size * count;

	if (length > call->most - call->length) {
		call->too_long = true;
		return 0;
	}
	if (call->length + length > call->room) {
		call->room = call->length + length + call->room;
		call->answer = xrealloc(call->answer, call->room, 1);
	}
	memcpy(call->answer + call->length, bytes, length);
	call->length += length;
	return length;
}

static struct curl_slist *add_header(
	struct curl_slist *headers, const char *name, const char *value)
{
	char *line = value == NULL ? NULL : xprintf("%s: %s", name, value);

	if (line != NULL)
		headers = curl_slist_append(headers, line);
	free(line);
	return headers;
}

static struct curl_slist *headers_of(const struct consul_call *call)
{
	const char *token = call->consul->token.value;
	char *line = token == NULL ? NULL : xprintf("X-Consul-Token: %s", token);
	struct curl_slist *headers = NULL;

	if (line != NULL)
		headers = curl_slist_append(headers, line);
	secret_free(line);
	headers = add_header(headers, "X-Consul-Namespace", call->consul->namespace);
	headers = add_header(headers, "X-Consul-Partition", call->consul->partition);
	if (call->put) {
		headers = curl_slist_append(headers, "Content-Type: application/json");
		/* libcurl would wait for "100 Continue" before a long body. */
		headers = curl_slist_append(headers, "Expect:");
	}
	return headers;
}

static void start_transfer(struct consul_call *call)
{
	struct consul *consul = call->consul;
	char *url = xprintf("%s%s", consul->base, call->path);
	CURL *easy = call->easy = curlev_easy(call->curlev);

	if (!call->apart) /* these are not worth a place */
		consul_sockets_use(&consul->sockets, easy);
	call->headers = headers_of(call);
	consul_tls_apply(&consul->tls, easy);
	(void)curl_easy_setopt(easy, CURLOPT_URL, url);
	free(url);
	(void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	(void)curl_easy_setopt(easy, CURLOPT_USERAGENT, "probity/" PROBITY_VERSION);
	(void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
	if (consul->path != NULL)
		(void)curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, consul->path);
	if (call->addresses != NULL)
		(void)curl_easy_setopt(easy, CURLOPT_RESOLVE, call->addresses);
	if (call->put) {
		(void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "PUT");
		(void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body);
		(void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(call->body));
	}
	curlev_start(call->curlev, &call->transfer, easy, on_done);
}

/* libcurl's own list of "host:port:address,address": with it, it looks nothing up. */
static void on_resolved(void *owner, const struct resolve_answer *answer)
{
	struct consul_call *call = owner;
	struct consul *consul = call->consul;
	char *line, text[INET6_ADDRSTRLEN];

	call->query = NULL;
	if (answer->count == 0) {
		char *cause = xprintf("cannot resolve %s: %s", consul->host, answer->error);

		end_without_answer(call, cause);
		free(cause);
		return;
	}
	line = xprintf(
		"%s:%u:", consul->renamed != NULL ? consul->renamed : consul->host, consul->port);
	for (size_t i = 0; i < answer->count; i++) {
		const struct sockaddr_storage *address = &answer->addresses[i];
		bool v6 = address->ss_family == AF_INET6;
		const void *bytes = v6
			? (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr
			: (const void *)&((const struct sockaddr_in *)address)->sin_addr;
		char *longer;

		(void)inet_ntop(address->ss_family, bytes, text, sizeof(text));
		longer = xprintf(
			"%s%s%s%s%s", line, i == 0 ? "" : ",", v6 ? "[" : "", text, v6 ? "]" : "");
		free(line);
		line = longer;
	}
	call->addresses = curl_slist_append(NULL, line);
	free(line);
	start_transfer(call);
}

static bool is_name(const char *host)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return host != NULL && inet_pton(AF_INET, host, bytes) != 1 &&
		inet_pton(AF_INET6, host, bytes) != 1;
}

/*
 * The deadline is acted on in a second pass: after a stop of the process libev runs timers
 * first, and the answer may lie there already.
 */
static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct consul_call *call = timer->data;
	char *cause;

	(void)events;
	if (call->problem != NULL) {
		end(call, call->refusal, 0, xstrdup(call->problem), NULL);
		return;
	}
	if (!call->expiring) {
		call->expiring = true;
		ev_timer_set(timer, 0, 0);
		ev_set_priority(timer, EV_MINPRI);
		ev_timer_start(loop, timer);
		return;
	}
	cause = xprintf("%s within %gs", was_sent(call) ? "no answer" : "no connection",
		call->patience + call->consul->timeout);
	end_without_answer(call, cause);
	free(cause);
}

/* What stands in the way of a call before it is made. */
static void look_for_problems(struct consul_call *call)
{
	struct consul *consul = call->consul;
	const char *token = consul->token.problem;

	/* Without its token a call might be taken for one of the agent's own default token. */
	if (consul->token.file != NULL && consul->token.value == NULL) {
		call->refusal = CONSUL_FORBIDDEN;
		call->problem =
			xprintf("no token: %s", token == NULL ? "it could not be read" : token);
		return;
	}
	if (!consul->tls.used)
		return;
	consul_sockets_lend(&consul->sockets); /* for a file that has changed */
	call->refusal = CONSUL_REFUSED;
	call->problem = consul_tls_refresh(&consul->tls);
	consul_sockets_take_back(&consul->sockets);
}

struct consul_call *consul_call_start(
	struct consul *consul, const struct consul_request *request, struct consul_reply reply)
{
	struct consul_call *call = xcalloc(1, sizeof(*call));

	call->consul = consul;
	call->started = clock_monotonic();
	call->reply = reply;
	call->put = request->put;
	call->path = request->take_path;
	call->body = request->take_body;
	call->patience = request->patience;
	call->apart = request->apart;
	call->list = request->list;
	call->curlev = call->apart ? consul->waiting : consul->curlev;
	call->most = request->put ? PUT_ANSWER : request->most;
	call->next = consul->calls;
	if (consul->calls != NULL)
		consul->calls->previous = call;
	consul->calls = call;
	look_for_problems(call);
	ev_now_update(consul->setup.loop);
	ev_timer_init(&call->deadline, on_deadline,
		call->problem != NULL ? 0 : call->patience + consul->timeout, 0);
	call->deadline.data = call;
	ev_timer_start(consul->setup.loop, &call->deadline);
	if (call->problem != NULL)
		return call;
	if (is_name(consul->host) || consul->renamed != NULL)
		call->query = resolve_start(
			consul->setup.loop, consul->host, AF_UNSPEC, on_resolved, call);
	else
		start_transfer(call);
	return call;
}

bool consul_oldest(const struct consul *consul, double *ret_started)
{
	const struct consul_call *oldest = NULL;

	/* New ones go in front; those that wait by design say nothing of the loop. */
	for (const struct consul_call *each = consul->calls; each != NULL; each = each->next) {
		if (!each->apart)
			oldest = each;
	}
	if (oldest != NULL)
		*ret_started = oldest->started;
	return oldest != NULL;
}
