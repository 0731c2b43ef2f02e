/* SPDX-License-Identifier: MIT */
/* probes/tls_pipe.h: the client's end of TLS on a socket, step by step. Knows no loop. */
#ifndef PROBES_TLS_PIPE_H
#define PROBES_TLS_PIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "probes/tls_session.h"

struct tls_pipe;

enum tls_step {
	TLS_DONE,
	TLS_WANTS_READ, /* again when the socket is readable */
	TLS_WANTS_WRITE, /* again when it is writable */
	TLS_ENDED, /* the peer said that nothing follows */
	TLS_FAILED, /* see tls_pipe_problem() */
};

/*
 * On a connected non-blocking socket, which stays the caller's. session outlives the
 * pipe, and tls_session_refresh() has succeeded for its conf. The certificate has to be for
 * name, a host name (sent as SNI) or an address. NULL with *ret_problem (free()) where OpenSSL
 * refuses what is configured.
 */
struct tls_pipe *tls_pipe_create(
	int fd, struct tls_session *session, const char *name, char **ret_problem);

/* Each returns at once. Reads and writes are for after the handshake. */
enum tls_step tls_pipe_handshake(struct tls_pipe *pipe);
enum tls_step tls_pipe_read(struct tls_pipe *pipe, void *bytes, size_t room, size_t *ret_got);
enum tls_step tls_pipe_write(
	struct tls_pipe *pipe, const void *bytes, size_t length, size_t *ret_sent);

/* There is more to read that the socket does not show. */
bool tls_pipe_is_pending(const struct tls_pipe *pipe);

/* After TLS_FAILED: why, one stable line; "" before. Borrowed. */
const char *tls_pipe_problem(const struct tls_pipe *pipe);

/* Says goodbye as far as that is possible without waiting, and frees; accepts NULL. */
void tls_pipe_destroy(struct tls_pipe *pipe);

#endif
