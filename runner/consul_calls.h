/* SPDX-License-Identifier: MIT */
/* runner/consul_calls.h: the calls to the agent, one function each. */
#ifndef RUNNER_CONSUL_CALLS_H
#define RUNNER_CONSUL_CALLS_H

#include "runner/consul.h"

/*
 * The calls. Text is copied. The whole call takes at most consul.timeout; it is
 * over when done is called, and then belongs to nobody.
 */
struct consul_call *consul_check_update(struct consul *consul, const char *id,
	enum probe_status status, const char *output, struct consul_reply reply);

/* The same by the older calls check/pass, warn and fail: the output is their note. */
struct consul_call *consul_check_ttl(struct consul *consul, const char *id,
	enum probe_status status, const char *output, struct consul_reply reply);
struct consul_call *consul_check_register(
	struct consul *consul, const json_t *body, struct consul_reply reply);
struct consul_call *consul_check_deregister(
	struct consul *consul, const char *id, struct consul_reply reply);
struct consul_call *consul_service_register(
	struct consul *consul, const json_t *body, struct consul_reply reply);

struct consul_call *consul_service_deregister(
	struct consul *consul, const char *id, struct consul_reply reply);

/* Answers with the service, or CONSUL_NOT_FOUND. */
struct consul_call *consul_service_get(
	struct consul *consul, const char *id, struct consul_reply reply);

/*
 * The same, once it is another one than that with the ContentHash `hash`, or after some
 * minutes. It is a call apart: on a connection of its own, beside the others.
 */
struct consul_call *consul_service_wait(
	struct consul *consul, const char *id, const char *hash, struct consul_reply reply);

/*
 * Answers with an object of checks by id. What a token may not read is left out
 * silently, so an absent check may be a missing right. With an id: a
 * filter is sent, and others than this check must be expected all the same.
 */
struct consul_call *consul_checks_get(
	struct consul *consul, const char *id, struct consul_reply reply);

/* The same for one check, apart. */
struct consul_call *consul_check_peek(
	struct consul *consul, const char *id, struct consul_reply reply);

/*
 * Answers with an array: all checks of a node as the catalog has them; apart. What a token
 * may not read is left out; without the right to read the node that is everything.
 */
struct consul_call *consul_catalog_get(
	struct consul *consul, const char *node, struct consul_reply reply);

#endif
