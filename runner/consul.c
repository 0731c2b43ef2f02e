// SPDX-License-Identifier: MIT
/* The agent's HTTP API: requests, deadlines, and what an answer amounts to. */
#include "runner/consul_calls.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/secret.h"
#include "runner/consul_call.h"
#include "runner/consul_text.h"

/* A service with all its tags and meta values; the agent's limits on those add up to less. */
#define ONE_ANSWER ((size_t)1 << 20)
/* All checks of an agent: 10,000 with 4 KiB of text each, and half as much again. */
#define ALL_ANSWER ((size_t)64 << 20)

#define WAIT_SECONDS 300 /* the agent's own default; an answer a minute would do as well */

/* With TLS a name of its own may stand in the URL, for SNI and for the certificate. */
static void name_target(struct consul *consul, const struct consul_conf *conf)
{
	const char *name = conf->tls.server_name;

	if (conf->address.transport != CONSUL_HTTPS || name == NULL) {
		consul->base = xstrdup(conf->address.base);
		return;
	}
	consul->base = xprintf(strchr(name, ':') != NULL ? "https://[%s]:%u" : "https://%s:%u",
		name, consul->port);
	consul->renamed = xstrdup(name);
}

struct consul *consul_create(const struct consul_setup *setup)
{
	const struct consul_conf *conf = setup->conf;
	struct consul *consul = xcalloc(1, sizeof(*consul));

	consul->setup = *setup;
	consul->setup.conf = NULL;
	consul->shown = xstrdup(conf->address.endpoint.shown);
	if (conf->address.transport == CONSUL_UNIX)
		consul->path = xstrdup(conf->address.endpoint.path);
	else
		consul->host = xstrdup(conf->address.endpoint.host);
	consul->port = conf->address.endpoint.port;
	name_target(consul, conf);
	consul->namespace = conf->namespace == NULL ? NULL : xstrdup(conf->namespace);
	consul->partition = conf->partition == NULL ? NULL : xstrdup(conf->partition);
	consul_tls_init(&consul->tls, conf);
	consul->timeout = conf->timeout;
	consul_token_init(&consul->token, conf->token_file);
	(void)consul_token_is_old(&consul->token);
	(void)consul_token_read(&consul->token);
	consul_sockets_init(&consul->sockets);
	consul->curlev = curlev_create(setup->loop, CONSUL_CONNECTIONS);
	consul->waiting = curlev_create(setup->loop, 0);
	return consul;
}

void consul_destroy(struct consul *consul)
{
	if (consul == NULL)
		return;
	while (consul->calls != NULL)
		(void)consul_cancel(consul->calls);
	/* Closes its connections, which give their places back. */
	curlev_destroy(consul->curlev);
	curlev_destroy(consul->waiting);
	consul_sockets_finish(&consul->sockets);
	consul_token_finish(&consul->token);
	consul_tls_finish(&consul->tls);
	free(consul->renamed);
	free(consul->namespace);
	free(consul->partition);
	free(consul->base);
	free(consul->shown);
	free(consul->host);
	free(consul->path);
	free(consul);
}

void consul_refresh(struct consul *consul, bool again)
{
	bool old = consul_token_is_old(&consul->token);
	bool changed;

	if (!old && !again)
		return;
	consul_sockets_lend(&consul->sockets);
	changed = consul_token_read(&consul->token);
	consul_sockets_take_back(&consul->sockets);
	if (changed)
		consul->setup.token_changed(consul->setup.owner);
}

const char *consul_address(const struct consul *consul)
{
	return consul->shown;
}

static char *path_of(const char *prefix, const char *id)
{
	char *encoded = consul_text_encode(id);
	char *path = xprintf("%s%s", prefix, encoded);

	free(encoded);
	return path;
}

struct consul_call *consul_check_update(struct consul *consul, const char *id,
	enum probe_status status, const char *output, struct consul_reply reply)
{
	json_t *body = json_pack("{s:s, s:s}", "Status", status_name(status), "Output", output);
	const struct consul_request request = {
		.put = true,
		.take_path = path_of("/v1/agent/check/update/", id),
		.take_body = consul_text_json(body),
	};

	json_decref(body);
	return consul_call_start(consul, &request, reply);
}

struct consul_call *consul_check_ttl(struct consul *consul, const char *id,
	enum probe_status status, const char *output, struct consul_reply reply)
{
	static const char *const verbs[] = {
		[PROBE_PASSING] = "pass", [PROBE_WARNING] = "warn", [PROBE_CRITICAL] = "fail"};
	char *encoded = consul_text_encode(id), *note = consul_text_encode(output);
	const struct consul_request request = {
		.put = true,
		/* An agent takes request lines of 1 MB; 4 KiB of output are 12 at most. */
		.take_path = xprintf("/v1/agent/check/%s/%s?note=%s", verbs[status], encoded, note),
		.take_body = xstrdup(""),
	};

	free(encoded);
	free(note);
	return consul_call_start(consul, &request, reply);
}

struct consul_call *consul_check_register(
	struct consul *consul, const json_t *body, struct consul_reply reply)
{
	const struct consul_request request = {
		.put = true,
		.take_path = xstrdup("/v1/agent/check/register"),
		.take_body = consul_text_json(body),
	};

	return consul_call_start(consul, &request, reply);
}

struct consul_call *consul_check_deregister(
	struct consul *consul, const char *id, struct consul_reply reply)
{
	const struct consul_request request = {
		.put = true,
		.take_path = path_of("/v1/agent/check/deregister/", id),
		.take_body = xstrdup(""),
	};

	return consul_call_start(consul, &request, reply);
}

struct consul_call *consul_service_register(
	struct consul *consul, const json_t *body, struct consul_reply reply)
{
	const struct consul_request request = {
		.put = true,
		.take_path = xstrdup("/v1/agent/service/register"),
		.take_body = consul_text_json(body),
	};

	return consul_call_start(consul, &request, reply);
}

struct consul_call *consul_service_deregister(
	struct consul *consul, const char *id, struct consul_reply reply)
{
	const struct consul_request request = {
		.put = true,
		.take_path = path_of("/v1/agent/service/deregister/", id),
		.take_body = xstrdup(""),
	};

	return consul_call_start(consul, &request, reply);
}

struct consul_call *consul_service_get(
	struct consul *consul, const char *id, struct consul_reply reply)
{
	const struct consul_request request = {
		.take_path = path_of("/v1/agent/service/", id), .most = ONE_ANSWER};

	return consul_call_start(consul, &request, reply);
}

struct consul_call *consul_service_wait(
	struct consul *consul, const char *id, const char *hash, struct consul_reply reply)
{
	char *encoded = consul_text_encode(id), *mark = consul_text_encode(hash);
	const struct consul_request request = {
		.take_path = xprintf(
			"/v1/agent/service/%s?hash=%s&wait=%ds", encoded, mark, WAIT_SECONDS),
		.most = ONE_ANSWER,
		.apart = true,
		/* The agent adds a sixteenth at most, so that not all come back at once. */
		.patience = WAIT_SECONDS * 17.0 / 16,
	};

	free(encoded);
	free(mark);
	return consul_call_start(consul, &request, reply);
}

struct consul_call *consul_checks_get(
	struct consul *consul, const char *id, struct consul_reply reply)
{
	const struct consul_request request = {
		.take_path = id == NULL ? xstrdup("/v1/agent/checks") : consul_text_filter(id),
		.most = ALL_ANSWER,
	};

	return consul_call_start(consul, &request, reply);
}

struct consul_call *consul_check_peek(
	struct consul *consul, const char *id, struct consul_reply reply)
{
	const struct consul_request request = {
		.take_path = consul_text_filter(id), .most = ALL_ANSWER, .apart = true};

	return consul_call_start(consul, &request, reply);
}

struct consul_call *consul_catalog_get(
	struct consul *consul, const char *node, struct consul_reply reply)
{
	char *encoded = consul_text_encode(node);
	const struct consul_request request = {
		/* Any server may answer, and one without a leader can. */
		.take_path = xprintf("/v1/health/node/%s?stale", encoded),
		.most = ALL_ANSWER,
		.apart = true,
		.list = true,
	};

	free(encoded);
	return consul_call_start(consul, &request, reply);
}
