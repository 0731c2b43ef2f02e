/* SPDX-License-Identifier: MIT */
/* probes/http_kept.h: the connection that one check keeps between its runs. */
#ifndef PROBES_HTTP_KEPT_H
#define PROBES_HTTP_KEPT_H

#include "probes/curlev.h"
#include "probes/tls_session.h"

/*
 * One connection of one check: nobody else's request goes over it. Every k-th run
 * takes a fresh one, since a kept one says nothing of the listener. It lives as long as the
 * configuration of the check, and is closed with it.
 */
struct http_kept;

struct http_kept *http_kept_create(unsigned int fresh_every);
void http_kept_destroy(struct http_kept *kept); /* closes; accepts NULL */

/* There is one, and it is not the turn of a fresh one. */
bool http_kept_is_ready(const struct http_kept *kept);

/*
 * What is kept is not to be used again: the next transfer asks for a fresh connection,
 * for which libcurl closes the old one. Callable from where a transfer ends.
 */
void http_kept_drop(struct http_kept *kept);

/* A transfer over it has ended well: it may be used again. */
void http_kept_keep(struct http_kept *kept);

/* Where its transfers run; made at need. */
struct curlev *http_kept_curlev(struct http_kept *kept, struct ev_loop *loop);

/* Of its handshake; outlives the runs, as the connection does. */
struct tls_session *http_kept_tls(struct http_kept *kept);

#endif
