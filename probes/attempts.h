/* SPDX-License-Identifier: MIT */
/* probes/attempts.h: a name or address -> one connection, all addresses tried, by any means. */
#ifndef PROBES_ATTEMPTS_H
#define PROBES_ATTEMPTS_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "config/field.h"
#include "probes/outcome.h"

/*
 * Resolves (unless the host is an address), then begins one attempt per address, the next
 * one ATTEMPTS_STAGGER after the last or as soon as it failed (RFC 8305, "Happy Eyeballs":
 * an address that swallows SYNs must not eat the deadline). How one is made is the
 * caller's: a socket (dial.h), or an object of a library that connects by itself. The first
 * that is connected wins, the others are dropped. The runner's deadline covers it all.
 */
#define ATTEMPTS_STAGGER 0.25 /* s: RFC 8305, section 8, recommended connection attempt delay */
#define ATTEMPTS_MOST 16

struct attempts;

enum attempt_state {
	ATTEMPT_PENDING, /* under way: attempt_connected() or attempt_failed() follows */
	ATTEMPT_CONNECTED,
	ATTEMPT_FAILED, /* attempt_blame() was called */
	ATTEMPT_FULL, /* a unix socket whose queue is full: it is opened again soon */
};

/* The first member of what the caller keeps for an address. Read only. */
struct attempt {
	struct attempts *attempts;
	struct sockaddr_storage address; /* with its port */
	int error; /* errno; 0 while there is none */
	char *why; /* what a library says instead; NULL: strerror(error); owned */
};

struct attempts_setup {
	struct ev_loop *loop;
	struct trace *trace; /* gets each address and how it went; NULL: nobody asked */
	const struct conf_address *address; /* host and port, or a unix socket; borrowed */
	int family; /* AF_UNSPEC: both, in the order of the answer; AF_INET, AF_INET6 */

	/*
	 * Of the whole run (probe_timeout()), s; 0: unknown. With many addresses the
	 * stagger shrinks, so that the last has its turn in the first half of it.
	 */
	double timeout;
	size_t size; /* of the caller's struct for one address, zeroed before its first open */

	/*
	 * Told once: lookups are over and connects begin. From inside attempts_start()
	 * where nothing is to be looked up. May be NULL.
	 */
	void (*connecting)(void *owner);

	/* Begins to connect to attempt->address, without blocking. */
	enum attempt_state (*open)(struct attempt *attempt);

	/*
	 * Lets go of what open began: watcher, descriptor, object. Called for every
	 * address, opened or not, and again: it leaves nothing for the next call.
	 */
	void (*drop)(struct attempt *attempt);

	/*
	 * From the loop, never from attempts_start(). winner is connected, and what it
	 * holds is the callee's to take out before attempts_destroy() drops it. NULL:
	 * reason is RESOLVE, CONNECT or LOCAL and attempts_report() says every address and
	 * why. May destroy the attempts.
	 */
	void (*done)(void *owner, struct attempt *winner, enum probe_reason reason);
	void *owner;
};

struct attempts *attempts_start(const struct attempts_setup *setup);
void *attempts_owner(const struct attempt *attempt);
struct ev_loop *attempts_loop(const struct attempt *attempt);

/* How a pending attempt ended, told from the caller's watcher. Its watcher is stopped. */
void attempt_connected(struct attempt *attempt);
void attempt_failed(struct attempt *attempt, int error, const char *why);

/* Why open() returns ATTEMPT_FAILED: an errno, or 0, and text where a library has its own. */
void attempt_blame(struct attempt *attempt, int error, const char *why);

/* The outcome of a pending connect(), once the socket is writable: 0, or its errno. */
int attempt_outcome(int fd);

/* As dial_report() and dial_peer(), whose texts these are. */
const char *attempts_report(struct attempts *attempts);
const char *attempts_peer(struct attempts *attempts);

void attempts_destroy(struct attempts *attempts); /* drops all and frees; accepts NULL */

#endif
