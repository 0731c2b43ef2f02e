/* SPDX-License-Identifier: MIT */
/* runner/notify.h: what the service manager is told, and in which words. */
#ifndef RUNNER_NOTIFY_H
#define RUNNER_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "probes/outcome.h"

/* The one line of `systemctl status`. Strings are borrowed, NULL for none. */
struct notify_facts {
	size_t checks, undecided;
	size_t by_status[PROBE_CRITICAL + 1]; /* the decided ones */
	bool agent_off, agent_reachable;
	const char *agent_problem;
	const char *left_out; /* a file of the configuration that is not in force, and why */
	size_t left_out_more; /* other such files */
	const char *reload_error; /* of the last reload */
};

/* "12 checks: 10 passing, 1 warning, 1 critical; agent reachable". Pure; free(). */
char *notify_words(const struct notify_facts *facts);

/*
 * The socket of the service manager: sd_notify(3). Opened once, so that a process out of
 * descriptors is not taken for a dead one, and never waited for: libsystemd's own function
 * blocks where a frozen service manager reads no more.
 */
struct notify {
	int fd; /* -1: nobody wants to hear */
	struct sockaddr_un address;
	socklen_t address_length;
	double watchdog; /* s that it waits for WATCHDOG=1; 0: it has none */
};

/* Looks at $NOTIFY_SOCKET. Returns 0, or negative errno: then nobody is told anything. */
int notify_open(struct notify *notify);
void notify_close(struct notify *notify);

/* False if it could not be told now: try later. True as well where nobody wants to hear. */
bool notify_send(const struct notify *notify, const char *text);

#endif
