/* SPDX-License-Identifier: MIT */
/* runner/consul_call.h: one call to the agent, from request to answer; private to consul*.c. */
#ifndef RUNNER_CONSUL_CALL_H
#define RUNNER_CONSUL_CALL_H

#include "probes/curlev.h"
#include "probes/resolve.h"
#include "runner/consul.h"
#include "runner/consul_sockets.h"
#include "runner/consul_tls.h"
#include "runner/consul_token.h"

struct consul {
	struct consul_setup setup; /* without conf */
	char *base; /* "http://127.0.0.1:8500" */
	char *shown; /* for messages */
	char *host; /* NULL for a unix socket */
	char *path; /* of a unix socket, else NULL */
	unsigned int port;
	double timeout;
	char *renamed; /* the host in base, where it is not `host`; else NULL */
	char *namespace, *partition; /* NULL: not sent */
	struct consul_token token;
	struct consul_tls tls;
	struct consul_sockets sockets;
	struct curlev *curlev;
	struct curlev *waiting; /* for calls apart */
	struct consul_call *calls; /* a list of those under way */
};

struct consul_request {
	bool put; /* else GET, whose answer is JSON */
	char *take_path;
	char *take_body; /* with put */
	size_t most; /* bytes of answer to a GET */
	bool apart; /* on a connection of its own: no other call waits for it */
	bool list; /* the answer is an array */
	double patience; /* s that the agent may take by design, before its timeout counts */
};

/* Starts it. done is called from the loop. */
struct consul_call *consul_call_start(
	struct consul *consul, const struct consul_request *request, struct consul_reply reply);

#endif
