/* SPDX-License-Identifier: MIT */
/* probes/stream.h: a conversation over a connected socket: send, receive, part in peace. */
#ifndef PROBES_STREAM_H
#define PROBES_STREAM_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

struct tls_session;

/*
 * For tcp and every protocol that is spoken over it: bytes to send are queued,
 * bytes received gather in a window until they are consumed. It has no timeout and
 * knows no protocol. TLS lies below these calls: nothing here shows the descriptor.
 */
struct stream;

/* Bytes received and not consumed, at most: any greeting fits. */
#define STREAM_WINDOW ((size_t)64 * 1024)

struct stream_setup {
	struct ev_loop *loop;
	int take_fd; /* connected and non-blocking; the stream's from now on */

	/* All of these come from the loop, never from inside stream calls, and may destroy it. */

	/* There is more in the window. May be NULL. */
	void (*received)(void *owner);

	/* All that was queued is with the kernel. May be NULL. */
	void (*sent)(void *owner);

	/*
	 * No more will come: error is 0 where the peer closed in order, ENOBUFS where the
	 * window is full, EPROTO where TLS failed (see stream_problem()), else the errno
	 * (ECONNRESET, ...). Once, after the last received().
	 */
	void (*ended)(void *owner, int error);
	void *owner;
};

struct stream *stream_create(const struct stream_setup *setup);

struct stream_tls {
	struct tls_session *session; /* outlives the stream; its files were refreshed */
	const char *name; /* that the certificate has to be for; copied */

	/* The handshake is over, and the server is who it has to be. From the loop. */
	void (*secured)(void *owner);
};

/*
 * Begins TLS, at the start or in the middle (STARTTLS). What is queued from now on is
 * sent encrypted; nothing may be left to send in clear, and nothing may stand in the window:
 * it came in clear, from anybody, and would be taken for an encrypted answer. NULL, or
 * why it cannot begin (free()); a handshake that fails leads to ended().
 */
char *stream_start_tls(struct stream *stream, const struct stream_tls *tls);

/* After ended(EPROTO): why TLS failed, one stable line. Borrowed. */
const char *stream_problem(const struct stream *stream);

/* Queues a copy, wiped once it is sent: it may be a password. What the peer no longer takes is
 * dropped: its answer may be there already. */
void stream_send(struct stream *stream, const void *bytes, size_t length);

/* The window: what was received and not consumed. Borrowed until the next callback. */
const char *stream_bytes(const struct stream *stream, size_t *ret_length);
void stream_consume(struct stream *stream, size_t length);

/* Ends with FIN, not RST, as far as that is possible without waiting; accepts NULL. */
void stream_destroy(struct stream *stream);

/*
 * The same with last words, such as QUIT: sent if the kernel takes them at once and nothing
 * is queued before them; not before TLS stands.
 */
void stream_part(struct stream *take_stream, const void *bytes, size_t length);

/* The same for a connection that was only made: end of the conversation. */
void stream_close(int take_fd);

#endif
