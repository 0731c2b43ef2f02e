/* SPDX-License-Identifier: MIT */
/* tests/unit/dial_bench.h: a resolver that says what the test wants, listeners, and one dial. */
#ifndef TESTS_UNIT_DIAL_BENCH_H
#define TESTS_UNIT_DIAL_BENCH_H

#include "tests/unit/unit.h"

#include "probes/dial.h"

extern struct fake_resolver {
	struct sockaddr_storage answers[40];
	size_t count;
	const char *error; /* told where count is 0 */
	int asked_family;
	bool silent, cancelled;
} resolver;

extern int fail_socket, fail_option; /* errno of the next socket(), getsockopt(); 0: none */

void answer_with(const char *const *hosts); /* addresses, ends with NULL */

int listen_on(const char *host, int backlog, unsigned int *ret_port);
unsigned int open_descriptors(void);

/* A listener whose queue is full drops SYNs. */
struct deaf {
	int listener, queued[4];
	unsigned int port;
};

void make_deaf(struct deaf *deaf, const char *host);
void end_deaf(struct deaf *deaf);

struct dialled {
	struct dial *dial;
	int fd;
	enum probe_reason reason;
	unsigned int connecting, done;
	double took;
};

void note_dialled(void *owner, int fd, enum probe_reason reason); /* dial_setup.done */

/* Dials and runs the loop until it is over, at most for `longest` seconds. */
struct dialled dial_with(const struct conf_address *address, enum dial_family family,
	double timeout, double longest);
struct dialled dial_host(const char *host, unsigned int port);

#endif
