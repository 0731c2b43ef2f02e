// SPDX-License-Identifier: MIT
/* A server that answers as told, and names that mean what the test says. */
#include "tests/unit/consul_bench.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/resolve.h"

struct server server;
struct ev_loop *loop;
struct consul *consul;
enum consul_result result;
char cause[300];
json_t *json;
unsigned int token_changes;
const char *resolved;

static bool answered;

struct resolve_query {
	ev_timer timer;
	void (*done)(void *owner, const struct resolve_answer *answer);
	void *owner;
};

static void on_resolve(struct ev_loop *the_loop, ev_timer *timer, int events)
{
	struct resolve_query *query = (struct resolve_query *)timer;
	struct sockaddr_storage addresses[2] = {0};
	struct sockaddr_in *dead = (struct sockaddr_in *)&addresses[0];
	struct sockaddr_in *good = (struct sockaddr_in *)&addresses[1];
	struct resolve_answer answer = {addresses, *resolved == '\0' ? 0 : 2, "no such name"};

	(void)the_loop;
	(void)events;
	dead->sin_family = good->sin_family = AF_INET;
	inet_pton(AF_INET, "127.255.255.254", &dead->sin_addr);
	inet_pton(AF_INET, "127.0.0.1", &good->sin_addr);
	query->done(query->owner, &answer);
	free(query);
}

struct resolve_query *resolve_start(struct ev_loop *the_loop, const char *host, int family,
	void (*done)(void *owner, const struct resolve_answer *answer), void *owner)
{
	struct resolve_query *query = xcalloc(1, sizeof(*query));

	assert_string_equal(host, "agent.test");
	assert_int_equal(family, AF_UNSPEC);
	query->done = done;
	query->owner = owner;
	ev_timer_init(&query->timer, on_resolve, 0, 0);
	ev_timer_start(the_loop, &query->timer);
	return query;
}

void resolve_cancel(struct resolve_query *query)
{
	if (query != NULL)
		ev_timer_stop(loop, &query->timer);
	free(query);
}

static bool is_whole(void)
{
	const char *end = strstr(server.request, "\r\n\r\n");
	const char *said = strstr(server.request, "Content-Length: ");

	return end != NULL &&
		(said == NULL ||
			strlen(end + 4) >= strtoul(said + strlen("Content-Length: "), NULL, 10));
}

static void on_request(struct ev_loop *the_loop, ev_io *io, int events)
{
	ssize_t got;

	(void)events;
	if (server.requests == 0 || is_whole())
		server.length = 0;
	got = read(
		io->fd, server.request + server.length, sizeof(server.request) - 1 - server.length);
	if (got <= 0) {
		ev_io_stop(the_loop, io);
		(void)close(io->fd);
		return;
	}
	server.length += (size_t)got;
	server.request[server.length] = '\0';
	if (!is_whole())
		return;
	server.requests++;
	if (server.reply != NULL)
		assert_true(write(io->fd, server.reply, strlen(server.reply)) > 0);
	if (server.closes) {
		ev_io_stop(the_loop, io);
		(void)close(io->fd);
	}
}

static void on_accept(struct ev_loop *the_loop, ev_io *io, int events)
{
	int fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC);
	ev_io *reading = &server.reading[server.connections++ % 16];

	(void)events;
	assert_true(fd >= 0);
	ev_io_init(reading, on_request, fd, EV_READ);
	ev_io_start(the_loop, reading);
}

void listen_on(struct sockaddr *address, socklen_t length)
{
	memset(&server, 0, sizeof(server));
	server.listener = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server.listener, address, length), 0);
	assert_int_equal(listen(server.listener, 16), 0);
	ev_io_init(&server.accepting, on_accept, server.listener, EV_READ);
	ev_io_start(loop, &server.accepting);
}

static void token_changed(void *owner)
{
	(void)owner;
	token_changes++;
}

void make_consul(struct consul_conf conf)
{
	const struct consul_setup setup = {
		.loop = loop, .conf = &conf, .token_changed = token_changed};

	consul = consul_create(&setup);
}

void start(const char *host, double timeout, const char *token_file)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t length = sizeof(address);
	char base[64], shown[64];

	loop = ev_default_loop(0);
	inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
	listen_on((struct sockaddr *)&address, length);
	assert_int_equal(getsockname(server.listener, (struct sockaddr *)&address, &length), 0);
	server.port = ntohs(address.sin_port);
	(void)snprintf(base, sizeof(base), "http://%s:%u", host, server.port);
	(void)snprintf(shown, sizeof(shown), "%s:%u", host, server.port);
	make_consul((struct consul_conf){
		.address = {.base = base,
			.host = host,
			.endpoint = {.host = host, .port = server.port, .shown = shown}},
		.token_file = token_file,
		.timeout = timeout,
	});
}

void finish(void)
{
	consul_destroy(consul);
	json_decref(json);
	json = NULL;
	if (server.listener >= 0) {
		ev_io_stop(loop, &server.accepting);
		(void)close(server.listener);
	}
	for (size_t i = 0; i < 16; i++) {
		if (ev_is_active(&server.reading[i])) {
			ev_io_stop(loop, &server.reading[i]);
			(void)close(server.reading[i].fd);
		}
	}
	ev_loop_destroy(loop);
}

static void on_answer(void *owner, const struct consul_answer *answer)
{
	(void)owner;
	answered = true;
	result = answer->result;
	(void)snprintf(cause, sizeof(cause), "%s", answer->cause);
	json_decref(json);
	json = json_incref(answer->json);
	ev_break(loop, EVBREAK_ALL);
}

const struct consul_reply reply = {.done = on_answer};

void await(void)
{
	answered = false;
	while (!answered)
		ev_run(loop, 0);
}
