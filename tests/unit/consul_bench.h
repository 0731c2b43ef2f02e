/* SPDX-License-Identifier: MIT */
/* tests/unit/consul_bench.h: a server that answers as told, and runner/consul.c talking to it. */
#ifndef TESTS_UNIT_CONSUL_BENCH_H
#define TESTS_UNIT_CONSUL_BENCH_H

#include "tests/unit/unit.h"

#include <ev.h>
#include <sys/socket.h>

#include "runner/consul_calls.h"

/* Answers each request with the same bytes, or not at all. */
extern struct server {
	int listener;
	unsigned int port;
	ev_io accepting;
	ev_io reading[16];
	size_t connections;
	char request[8192]; /* the last one */
	size_t length;
	const char *reply; /* NULL: silence */
	bool closes; /* after the reply */
	unsigned int requests;
} server;

extern struct ev_loop *loop;
extern struct consul *consul;

/* Of the last answer. */
extern enum consul_result result;
extern char cause[300];
extern json_t *json;

extern unsigned int token_changes;

/* The name agent.test has a dead address and 127.0.0.1, or with "" none. No name service is asked.
 */
extern const char *resolved;

extern const struct consul_reply reply; /* for calls; await() waits for it */

void listen_on(struct sockaddr *address, socklen_t length);
void make_consul(struct consul_conf conf);
void start(const char *host, double timeout, const char *token_file); /* both of these, on TCP */
void finish(void);
void await(void);

#endif
