/* SPDX-License-Identifier: MIT */
/* probes/resolve.h: names -> addresses, off the loop; the only resolver in the program. */
#ifndef PROBES_RESOLVE_H
#define PROBES_RESOLVE_H

#include <ev.h>
#include <sys/socket.h>

#include "config/field.h"

struct resolve_conf {
	struct conf_strings servers; /* address or address:port; empty: resolv.conf */
	double timeout; /* s, of one try */
	unsigned int tries;
};

/* Rows for a top-level `resolver:` map. */
extern const struct conf_field resolve_fields[];

/*
 * Sets how names are looked up from now on. Call before the first lookup and on
 * reload. *conf is not kept. Lookups in flight go on as they began.
 */
void resolve_setup(struct ev_loop *loop, const struct resolve_conf *conf);
void resolve_finish(void); /* at exit: drops everything, calls nobody */

struct resolve_answer {
	const struct sockaddr_storage *addresses; /* port 0; borrowed for the call */
	size_t count; /* 0: failed */
	const char *error; /* stable text where count is 0 */
};

struct resolve_query;

/*
 * Looks host up: hosts file, then name servers, both families (AF_UNSPEC) at once
 * and in turn. done is called once, from the loop, never from inside
 * resolve_start(). Equal lookups in flight are one. Answers are kept for their
 * DNS TTL, at most 60 s. `localhost` and names under it never leave the machine.
 */
struct resolve_query *resolve_start(struct ev_loop *loop, const char *host, int family,
	void (*done)(void *owner, const struct resolve_answer *answer), void *owner);

/* done is not called; accepts NULL. The lookup itself goes on: the next one joins it. */
void resolve_cancel(struct resolve_query *query);

/*
 * The name servers that lookups ask, in their order and with their ports; at most `most`.
 * Returns how many; 0 where there are none to ask.
 */
size_t resolve_servers_now(struct ev_loop *loop, struct sockaddr_storage *ret_servers, size_t most);

#endif
