/* SPDX-License-Identifier: MIT */
/* probes/grpc_look.h: whether a server in clear speaks HTTP/2 at all, by its first bytes. */
#ifndef PROBES_GRPC_LOOK_H
#define PROBES_GRPC_LOOK_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

#include "probes/outcome.h"

/* Enough to tell: a frame's length, its type and its flags; a TLS record; "HTTP/". */
#define GRPC_LOOK 5

struct grpc_finding {
	enum probe_reason reason; /* REASON_NONE: HTTP/2, as far as can be seen */
	const char *text; /* static */
};

/* The first bytes of a server. GRPC_LOOK of them, or all that came before it closed. Pure. */
struct grpc_finding grpc_look_judge(const unsigned char *bytes, size_t length);

/*
 * Looks at a connected socket before its reader does: libcurl says only that something is
 * wrong with HTTP/2, each time something else, and with some servers it waits for ever. A
 * struct of zeroes is an idle one.
 */
struct grpc_look {
	struct ev_loop *loop; /* NULL while idle */
	ev_io io;
	ev_prepare passed; /* never started: fed for the end of the reader's first pass */
	int fd; /* borrowed: the reader's */
	int copy; /* ours, so that what it did not read can be seen after it closed; -1: none */

	/* From the loop, once, where the answer cannot be HTTP/2. The look is idle then. */
	void (*found)(void *owner, struct grpc_finding finding);
	void *owner;
};

/* loop, fd, found and owner are set. The reader starts in this pass of the loop. */
void grpc_look_start(struct grpc_look *look);

/* The reader has failed: what it did not see. REASON_NONE where that was HTTP/2, or nothing. */
struct grpc_finding grpc_look_last(const struct grpc_look *look);
void grpc_look_stop(struct grpc_look *look); /* idempotent */

#endif
