/* SPDX-License-Identifier: MIT */
/* probes/dial.h: a name or address -> one connected socket, all addresses tried. */
#ifndef PROBES_DIAL_H
#define PROBES_DIAL_H

#include <ev.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "config/field.h"
#include "probes/outcome.h"

/*
 * Resolves (unless the host is an address), then connects over all addresses as attempts.h
 * says: staggered, the first that connects wins; the others are closed. It has no
 * timeout: the runner's deadline covers it. At the deadline (probe_type.expire)
 * dial_report() says what a probe wants in its seen line: what is being looked up, or
 * each address and how far it is.
 */
struct dial;

enum dial_family {
	DIAL_ANY, /* both families, in the order of the answer */
	DIAL_V4,
	DIAL_V6,
};

struct dial_setup {
	struct ev_loop *loop;
	struct trace *trace; /* gets each address and how it went; NULL: nobody asked */
	const struct conf_address *address; /* host and port, or a unix socket; borrowed */
	enum dial_family family;

	double timeout; /* of the whole run (probe_timeout()), s; 0: unknown */

	/*
	 * Told once: lookups are over and connects begin. From inside dial_start()
	 * where nothing is to be looked up. May be NULL.
	 */
	void (*connecting)(void *owner);

	/*
	 * Ends the dial, called from the loop (never from dial_start). fd >= 0 is
	 * connected, non-blocking, close-on-exec and the callee's; connect() was called
	 * on it once (see curlev_start_on()). Otherwise reason is RESOLVE, CONNECT or
	 * LOCAL and dial_report() says every address and why. May destroy the dial.
	 */
	void (*done)(void *owner, int fd, enum probe_reason reason);
	void *owner;
};

struct dial *dial_start(const struct dial_setup *setup);

/*
 * Every address tried and how it went, one stable line: "[::1]:80 Connection
 * refused, 192.0.2.1:80 no answer"; the lookup where there are none. Borrowed
 * until the next call.
 */
const char *dial_report(struct dial *dial);

/* The address of the connection made, "127.0.0.1:80"; "" before. Borrowed until the next call. */
const char *dial_peer(struct dial *dial);

void dial_destroy(struct dial *dial); /* stops and frees; accepts NULL */

#endif
