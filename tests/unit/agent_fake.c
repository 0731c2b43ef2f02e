// SPDX-License-Identifier: MIT
/* The calls of runner/consul.c, answered out of memory. */
#include "tests/unit/agent_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "runner/consul_calls.h"

static void (*token_changed)(void *owner);
static void *token_owner;

struct consul {
	int unused;
};

struct consul_call {
	ev_timer timer;
	struct consul_reply reply;
	struct consul_answer answer;
	bool silent;
};

static struct consul_call *vigil; /* the newest */

static void on_call(struct ev_loop *the_loop, ev_timer *timer, int events)
{
	struct consul_call *call = (struct consul_call *)timer;

	(void)the_loop;
	(void)events;
	call->reply.done(call->reply.owner, &call->answer);
	json_decref(call->answer.json);
	free(call);
}

static struct consul_call *answer_with(
	const struct consul_reply *reply, enum consul_result result, int code, json_t *take_json)
{
	struct consul_call *call = xcalloc(1, sizeof(*call));

	call->reply = *reply;
	call->answer = (struct consul_answer){
		.result = fake.away ? CONSUL_REFUSED : result,
		.code = fake.away ? 0 : code,
		.cause = fake.away                   ? "Connection refused"
			: result == CONSUL_OK        ? ""
			: result == CONSUL_FORBIDDEN ? "403 Permission denied"
						     : "500 no such check",
		.json = take_json,
	};
	call->silent = fake.silent;
	ev_timer_init(&call->timer, on_call, 0, 0);
	if (!call->silent)
		ev_timer_start(loop, &call->timer);
	return call;
}

static struct consul_call *later(struct consul_call *take_call)
{
	ev_timer_stop(loop, &take_call->timer);
	ev_timer_set(&take_call->timer, 0.3, 0);
	ev_timer_start(loop, &take_call->timer);
	return take_call;
}

static struct consul_call *answer_code(const struct consul_reply *reply, int code)
{
	return answer_with(reply,
		code == 200           ? CONSUL_OK
			: code == 403 ? CONSUL_FORBIDDEN
			: code == 404 ? CONSUL_NOT_FOUND
				      : CONSUL_FAILED,
		code, NULL);
}

bool consul_cancel(struct consul_call *call)
{
	if (call == vigil) {
		vigil = NULL;
		fake.vigils--;
	}
	ev_timer_stop(loop, &call->timer);
	json_decref(call->answer.json);
	free(call);
	return true;
}

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
	va_list arguments;
	size_t used = strlen(journal);

	va_start(arguments, format);
	(void)vsnprintf(journal + used, sizeof(journal) - used, format, arguments);
	va_end(arguments);
	strncat(journal, "; ", sizeof(journal) - strlen(journal) - 1);
}

struct consul *consul_create(const struct consul_setup *setup)
{
	token_changed = setup->token_changed;
	token_owner = setup->owner;
	return xcalloc(1, sizeof(struct consul));
}

void consul_destroy(struct consul *consul)
{
	free(consul);
}

void consul_refresh(struct consul *consul, bool again)
{
	(void)consul;
	(void)again;
	if (!fake.token_waits)
		return;
	fake.token_waits = false;
	token_changed(token_owner);
}

bool consul_oldest(const struct consul *consul, double *ret_started)
{
	(void)consul;
	*ret_started = fake.oldest;
	return fake.oldest > 0;
}

const char *consul_address(const struct consul *consul)
{
	(void)consul;
	return "fake:8500";
}

/* Holds what a registration leaves: an existing check keeps its status. */
static void store(const char *id, const char *service, json_t *body)
{
	json_t *old = json_object_get(fake.checks, id);
	const char *status = json_string_value(json_object_get(old == NULL ? body : old, "Status"));

	(void)json_object_set_new(fake.checks, id,
		json_pack("{s:s, s:s, s:s, s:s, s:s}", "CheckID", id, "Type", "ttl", "Status",
			status, "ServiceID", service, "Notes",
			json_string_value(json_object_get(body, "Notes"))));
}

const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value == NULL ? "" : value;
}

struct consul_call *consul_check_update(struct consul *consul, const char *id,
	enum probe_status status, const char *output, struct consul_reply reply)
{
	json_t *check = json_object_get(fake.checks, id);
	int code = fake.code != 0 ? fake.code : check == NULL ? 500 : 200;

	(void)consul;
	note("update %s=%s:%s", id, status_name(status), output);
	if (code == 200 && !fake.away)
		(void)json_object_set_new(check, "Status", json_string(status_name(status)));
	if (fake.slow != NULL && strcmp(fake.slow, id) == 0)
		return later(answer_code(&reply, code));
	return answer_code(&reply, code);
}

struct consul_call *consul_check_ttl(struct consul *consul, const char *id,
	enum probe_status status, const char *output, struct consul_reply reply)
{
	note("ttl");
	return consul_check_update(consul, id, status, output, reply);
}

struct consul_call *consul_check_register(
	struct consul *consul, const json_t *body, struct consul_reply reply)
{
	const char *service = text(body, "ServiceID");
	bool known = *service == '\0' || json_object_get(fake.services, service) != NULL;
	int code = fake.code != 0 ? fake.code : known ? 200 : 500;

	(void)consul;
	note("register %s=%s", text(body, "ID"), text(body, "Status"));
	if (code == 200 && !fake.away)
		store(text(body, "ID"), service, (json_t *)body);
	return answer_code(&reply, code);
}

struct consul_call *consul_check_deregister(
	struct consul *consul, const char *id, struct consul_reply reply)
{
	(void)consul;
	note("deregister %s", id);
	if (fake.code == 0 && !fake.away)
		(void)json_object_del(fake.checks, id);
	return answer_code(&reply, fake.code != 0 ? fake.code : 200);
}

struct consul_call *consul_service_register(
	struct consul *consul, const json_t *body, struct consul_reply reply)
{
	json_t *check, *listed = json_object_get(body, "Checks");
	size_t i;

	(void)consul;
	note("service %s", text(body, "ID"));
	(void)json_object_set_new(fake.services, text(body, "ID"),
		json_pack("{s:s, s:O}", "Service", text(body, "Name"), "Weights",
			json_object_get(body, "Weights")));
	json_array_foreach (listed, i, check) {
		note("with %s=%s", text(check, "CheckID"), text(check, "Status"));
		store(text(check, "CheckID"), text(body, "ID"), check);
	}
	return answer_code(&reply, 200);
}

struct consul_call *consul_service_deregister(
	struct consul *consul, const char *id, struct consul_reply reply)
{
	(void)consul;
	note("deregister service %s", id);
	if (fake.code == 0 && !fake.away)
		(void)json_object_del(fake.services, id);
	return answer_code(&reply, fake.code != 0 ? fake.code : 200);
}

struct consul_call *consul_service_get(
	struct consul *consul, const char *id, struct consul_reply reply)
{
	json_t *service = json_object_get(fake.services, id);

	(void)consul;
	note("get %s", id);
	if (service == NULL)
		return answer_code(&reply, 404);
	return answer_with(&reply, CONSUL_OK, 200, json_incref(service));
}

struct consul_call *consul_service_wait(
	struct consul *consul, const char *id, const char *hash, struct consul_reply reply)
{
	(void)consul;
	if (strcmp(hash, "0") != 0)
		note("wait %s %s", id, hash);
	vigil = answer_code(&reply, 200);
	ev_timer_stop(loop, &vigil->timer);
	fake.vigils++;
	return vigil;
}

void end_vigil(int code)
{
	json_t *service = json_object_get(fake.services, "web-1");
	struct consul_call *call = vigil, *model;

	assert_non_null(call);
	vigil = NULL;
	fake.vigils--;
	model = answer_code(&call->reply, code);
	ev_timer_stop(loop, &model->timer);
	call->answer = model->answer;
	if (code == 200)
		call->answer.json = json_incref(service);
	free(model);
	ev_timer_start(loop, &call->timer);
}

struct consul_call *consul_check_peek(
	struct consul *consul, const char *id, struct consul_reply reply)
{
	json_t *check = json_object_get(fake.checks, id);

	(void)consul;
	return answer_with(&reply, CONSUL_OK, 200,
		check == NULL ? json_object() : json_pack("{s:{s:s}}", id, "Node", "n1"));
}

struct consul_call *consul_catalog_get(
	struct consul *consul, const char *node, struct consul_reply reply)
{
	(void)consul;
	assert_string_equal(node, "n1");
	fake.looks++;
	return answer_with(&reply, CONSUL_OK, 200, json_deep_copy(fake.catalog));
}

struct consul_call *consul_checks_get(
	struct consul *consul, const char *id, struct consul_reply reply)
{
	(void)consul;
	if (id == NULL)
		note("checks");
	else
		note("look %s", id);
	if (id == NULL && fake.slow_list)
		return later(answer_with(&reply, CONSUL_OK, 200, json_deep_copy(fake.checks)));
	return answer_with(&reply, CONSUL_OK, 200, json_deep_copy(fake.checks));
}
