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
 * Resolves (unless the host is an address), then connects over all addresses,
 * the next one DIAL_STAGGER after the last or as soon as it failed (RFC 8305,
 * "Happy Eyeballs": an address that swallows SYNs must not eat the deadline). The
 * first that connects wins; the others are closed. It has no timeout: the runner's
 * deadline covers it.
 */
#define DIAL_STAGGER 0.25 /* s: RFC 8305, section 8, recommended connection attempt delay */
#define DIAL_MAX_ADDRESSES 16

struct dial;

enum dial_family {
	DIAL_ANY, /* both families, in the order of the answer */
	DIAL_V4,
	DIAL_V6,
};

struct dial_setup {
	struct ev_loop *loop;
	const struct conf_address *address; /* host and port, or a unix socket; borrowed */
	enum dial_family family;

	/* Told once each: when lookups are over and connects begin. May be NULL. */
	void (*connecting)(void *owner);

	/*
	 * Ends the dial, called from the loop (never from dial_start). fd >= 0 is
	 * connected, non-blocking, close-on-exec and the callee's. Otherwise reason
	 * is RESOLVE, CONNECT or LOCAL and dial_report() says every address and why.
	 */
	void (*done)(void *owner, int fd, enum probe_reason reason);
	void *owner;
};

struct dial *dial_start(const struct dial_setup *setup);

/* Every address tried and why it failed, one stable line: "[::1]:80 Connection refused, ...".
 * Borrowed. */
const char *dial_report(const struct dial *dial);

/* The address of the connection made, "127.0.0.1:80"; "" before. Borrowed. */
const char *dial_peer(const struct dial *dial);

void dial_destroy(struct dial *dial); /* stops and frees; accepts NULL */

#endif
