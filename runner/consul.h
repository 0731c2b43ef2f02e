/* SPDX-License-Identifier: MIT */
/* runner/consul.h: the agent's HTTP API: connections, answers. Decides nothing, logs nothing. */
#ifndef RUNNER_CONSUL_H
#define RUNNER_CONSUL_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

#include "probes/outcome.h"
#include "runner/settings.h"

/*
 * Connections at most: one keeps a loopback agent busy, the others go on
 * where a call hangs. The agent drops a client's 201st without an answer.
 */
#define CONSUL_CONNECTIONS 4

enum consul_result {
	CONSUL_OK, /* 200 with a whole answer, readable where one is wanted */
	CONSUL_NOT_FOUND, /* 404 */
	CONSUL_FORBIDDEN, /* 401, 403, or the token file cannot be read */
	CONSUL_BAD, /* any other answer that blames the request; redirects: never followed */
	CONSUL_FAILED, /* 429, 5xx, an unreadable answer */
	CONSUL_REFUSED, /* not sent: nobody connected, nothing resolved, no descriptor */
	CONSUL_ABANDONED, /* sent, then timed out, reset or cut: it may be applied late */
};

struct consul_answer {
	enum consul_result result;
	int code; /* HTTP status, 0 if there was none */
	const char *cause; /* one stable line without secrets, "" with CONSUL_OK; borrowed */
	double retry_after; /* s, where it asks for patience; 0: it does not */
	json_t *json; /* of a GET with CONSUL_OK; borrowed */
};

struct consul;
struct consul_call;

struct consul_setup {
	struct ev_loop *loop;
	const struct consul_conf *conf; /* copied; not off */

	/* The token file holds another token than before. Called from inside consul_refresh(). */
	void (*token_changed)(void *owner);
	void *owner;
};

struct consul *consul_create(const struct consul_setup *setup);
void consul_destroy(struct consul *consul); /* ends calls, calling nobody; accepts NULL */

/*
 * Looks whether the token file was replaced, and reads it then; `again` reads it in
 * any case (after a 403). Cheap enough for before each call.
 */
void consul_refresh(struct consul *consul, bool again);

/* "127.0.0.1:8500", "unix:///run/consul.sock"; as messages name the agent. */
const char *consul_address(const struct consul *consul);

/* Who hears of the answer, once, from the loop, never from inside the function that calls. */
struct consul_reply {
	void (*done)(void *owner, const struct consul_answer *answer);
	void *owner;
};

/* When the oldest call under way was made (monotonic), but for those apart; false: none. */
bool consul_oldest(const struct consul *consul, double *ret_started);

/* done is not called. True if the request was sent, so that it may still be applied. */
bool consul_cancel(struct consul_call *call);

#endif
