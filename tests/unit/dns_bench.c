// SPDX-License-Identifier: MIT
/* A small name server on the test's own loop, and lookups of it. */
#include "tests/unit/dns_bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/clock.h"
#include "probes/dial_address.h"
#include "probes/resolve_conf.h"

/* Rows need these; what they do is tested elsewhere. */
const struct conf_kind conf_list_of_strings, conf_duration, conf_count;

bool conf_error(struct conf_load *load, const struct conf_node *node, const char *format, ...)
{
	(void)load;
	(void)node;
	(void)format;
	return false;
}

#define A 1
#define AAAA 28

struct name_server server;

static size_t add_record(unsigned char *at, uint16_t type, unsigned int ttl, unsigned char last)
{
	size_t size = type == A ? 4 : 16;

	memset(at, 0, 12 + size);
	at[0] = 0xC0; /* the name of the question */
	at[1] = 12;
	at[3] = (unsigned char)type;
	at[5] = 1;
	at[9] = (unsigned char)ttl;
	at[11] = (unsigned char)size;
	at[12] = type == A ? 192 : 0x20; /* 192.0.2.x, 2001::x */
	at[13] = type == A ? 0 : 0x01;
	if (type == A)
		at[14] = 2;
	at[12 + size - 1] = last;
	return 12 + size;
}

static void on_question(struct ev_loop *loop, ev_io *io, int events)
{
	unsigned char packet[512];
	char label[64] = "";
	struct sockaddr_in from;
	socklen_t from_length = sizeof(from);
	ssize_t got = recvfrom(
		io->fd, packet, sizeof(packet) - 200, 0, (struct sockaddr *)&from, &from_length);
	size_t end = 12;
	uint16_t type;
	unsigned int ttl = 60;

	(void)loop;
	(void)events;
	assert_true(got >= 17);
	memcpy(label, packet + 13, packet[12]);
	while (packet[end] != 0)
		end += packet[end] + 1U;
	type = packet[end + 2];
	end += 5;
	server.asked[type == AAAA]++;
	if (server.deaf > 0) {
		server.deaf--;
		return;
	}
	if (strcmp(label, "silent") == 0 || (strcmp(label, "slow6") == 0 && type == AAAA))
		return;
	packet[2] = 0x81;
	packet[3] = 0x80;
	packet[6] = packet[7] = packet[8] = packet[9] = packet[10] = packet[11] = 0;
	if (strcmp(label, "nx") == 0)
		packet[3] |= 3;
	if (strcmp(label, "fail") == 0)
		packet[3] |= 2;
	if (strcmp(label, "zero") == 0)
		ttl = 0;
	if (strcmp(label, "short") == 0)
		ttl = 1;
	if ((packet[3] & 15) == 0 && *label != '\0' && strcmp(label, "none") != 0 &&
		!(type == AAAA && strcmp(label, "both") != 0)) {
		packet[7] = 2;
		end += add_record(packet + end, type, ttl, 1);
		end += add_record(packet + end, type, ttl, 2);
	}
	(void)sendto(io->fd, packet, end, 0, (struct sockaddr *)&from, from_length);
}

void open_server(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);

	server.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_return_code(bind(server.fd, (struct sockaddr *)&address, length), errno);
	assert_return_code(getsockname(server.fd, (struct sockaddr *)&address, &length), errno);
	server.port = ntohs(address.sin_port);
	ev_io_init(&server.io, on_question, server.fd, EV_READ);
	ev_io_start(EV_DEFAULT_ & server.io);
}

void write_resolv_conf(const char *text)
{
	FILE *file = fopen(resolve_conf_file, "w");

	assert_non_null(file);
	(void)fputs(text, file);
	(void)fclose(file);
}

void set_up(unsigned int tries)
{
	char text[64];
	const char *const items[] = {text, NULL};
	struct resolve_conf conf = {
		.servers = {.items = items, .count = 1}, .timeout = 0.1, .tries = tries};

	(void)snprintf(text, sizeof(text), "127.0.0.1:%u", server.port);
	write_resolv_conf("nameserver 127.0.0.99\n");
	resolve_setup(EV_DEFAULT, &conf);
	server.asked[0] = server.asked[1] = server.deaf = 0;
}

static void on_done(void *owner, const struct resolve_answer *answer)
{
	struct lookup *lookup = owner;

	ev_break(EV_DEFAULT_ EVBREAK_ONE);
	lookup->query = NULL;
	lookup->done++;
	lookup->count = answer->count;
	lookup->addresses[0] = '\0';
	if (answer->count == 0)
		(void)snprintf(lookup->error, sizeof(lookup->error), "%s", answer->error);
	for (size_t i = 0; i < answer->count; i++) {
		char *one = address_show(&answer->addresses[i]);

		strncat(lookup->addresses, one,
			sizeof(lookup->addresses) - strlen(lookup->addresses) - 1);
		strncat(lookup->addresses, " ",
			sizeof(lookup->addresses) - strlen(lookup->addresses) - 1);
		free(one);
	}
}

void start(struct lookup *lookup, const char *host, int family)
{
	*lookup = (struct lookup){0};
	lookup->query = resolve_start(EV_DEFAULT, host, family, on_done, lookup);
	assert_int_equal(lookup->done, 0);
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)timer;
	(void)events;
	ev_break(loop, EVBREAK_ALL);
}

double run(const struct lookup *lookup, double longest)
{
	double begin = clock_monotonic();
	ev_timer limit;

	ev_now_update(EV_DEFAULT); /* a loop that has not run for a while has an old clock */
	ev_timer_init(&limit, on_limit, longest, 0);
	ev_timer_start(EV_DEFAULT_ & limit);
	while ((lookup == NULL || lookup->done == 0) && clock_monotonic() - begin < longest)
		ev_run(EV_DEFAULT_ EVRUN_ONCE);
	ev_timer_stop(EV_DEFAULT_ & limit);
	return clock_monotonic() - begin;
}

struct lookup look_up(const char *host, int family)
{
	static struct lookup lookup;

	start(&lookup, host, family);
	(void)run(&lookup, 5);
	assert_int_equal(lookup.done, 1);
	return lookup;
}
