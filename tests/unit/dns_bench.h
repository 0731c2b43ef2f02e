/* SPDX-License-Identifier: MIT */
/* tests/unit/dns_bench.h: a small name server on the test's own loop, and lookups of it. */
#ifndef TESTS_UNIT_DNS_BENCH_H
#define TESTS_UNIT_DNS_BENCH_H

#include "tests/unit/unit.h"

#include <ev.h>
#include <sys/socket.h>

#include "probes/resolve.h"

/*
 * The first label of a name says how it is answered: both, one (no IPv6), none, nx, fail,
 * silent, slow6 (silent for IPv6), zero and short (TTL 0 s and 1 s). Addresses are 192.0.2.1,
 * 192.0.2.2, 2001::1 and 2001::2.
 */
extern struct name_server {
	int fd;
	unsigned int port;
	ev_io io;
	unsigned int asked[2]; /* A, AAAA */
	unsigned int deaf; /* questions still to be dropped */
} server;

void open_server(void);
void write_resolv_conf(const char *text);
void set_up(unsigned int tries); /* asks the server, nothing kept, nothing counted */

struct lookup {
	struct resolve_query *query;
	unsigned int done;
	size_t count;
	char error[80];
	char addresses[512];
};

void start(struct lookup *lookup, const char *host, int family);

/* Runs the loop until the lookup (may be NULL) is done, or for that many seconds; how many it
 * were. */
double run(const struct lookup *lookup, double longest);

struct lookup look_up(const char *host, int family); /* start and run */

#endif
