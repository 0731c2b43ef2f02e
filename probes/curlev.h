/* SPDX-License-Identifier: MIT */
/* probes/curlev.h: libcurl transfers on a libev loop; the only file that names both. */
#ifndef PROBES_CURLEV_H
#define PROBES_CURLEV_H

#include <curl/curl.h>
#include <ev.h>

/*
 * One multi handle on one loop. Probes share one (curlev_shared); the agent's
 * calls have their own, so that neither can starve the other of connections.
 */
struct curlev;

/* most_connections: open at once, further transfers wait for their turn; 0: no limit. */
struct curlev *curlev_create(struct ev_loop *loop, long most_connections);
void curlev_destroy(struct curlev *curlev); /* removes transfers still in; accepts NULL */

/* The probes' own, made at first use on this loop; curlev_shared_destroy() at exit. */
struct curlev *curlev_shared(struct ev_loop *loop);
void curlev_shared_destroy(void);

/*
 * One transfer, a member of the caller's run; a struct of zeroes is an idle one.
 * done is called from the loop, outside libcurl, and may start the same transfer
 * again, stop others or give the handle back.
 */
struct curlev_transfer {
	struct curlev *curlev; /* NULL while not running */
	CURL *easy;
	void (*done)(struct curlev_transfer *transfer, CURLcode result);
	struct curlev_transfer *next, *previous; /* ours: those running */
	int fd; /* ours: handed in and not yet taken by libcurl */
};

/*
 * Starts the transfer of an easy handle; CURLOPT_PRIVATE becomes ours. libcurl
 * connects by itself, so the URL's host must be an address (or a unix socket set):
 * a name would be looked up by libcurl's own threads, which nothing can cancel.
 */
void curlev_start(struct curlev *curlev, struct curlev_transfer *transfer, CURL *easy,
	void (*done)(struct curlev_transfer *transfer, CURLcode result));

/*
 * The same over a connected TCP socket from probes/dial.h, which becomes libcurl's:
 * it is closed exactly once whatever happens. The URL's host is then only a name,
 * for Host:, SNI and certificates; nothing is looked up and nothing connected. Where
 * libcurl wants a second connection (it never does with FOLLOWLOCATION off and
 * FRESH_CONNECT on), the transfer fails with CURLE_COULDNT_CONNECT. Sets
 * CURLOPT_CONNECT_TO, OPENSOCKETFUNCTION and SOCKOPTFUNCTION. fd -1: only a
 * connection kept from before will do. connect() must have been called on fd once,
 * without blocking, and not again: see hand_over() in curlev.c.
 */
void curlev_start_on(struct curlev *curlev, struct curlev_transfer *transfer, CURL *easy, int fd,
	void (*done)(struct curlev_transfer *transfer, CURLcode result));

/* Takes it out; done is not called. Not from inside a libcurl callback. Idempotent. */
void curlev_stop(struct curlev_transfer *transfer);

/*
 * Easy handles for reuse: a fresh one costs 20 KB and its set-up. curlev_easy()
 * gives a handle as after curl_easy_reset(), with what every request of ours
 * wants: no proxy, no netrc, no signals, HTTP and HTTPS only, no redirects, paths
 * as written, sockets close-on-exec. Only a header "Expect:" switches Expect off.
 */
CURL *curlev_easy(struct curlev *curlev);
void curlev_give_back(struct curlev *curlev, CURL *easy); /* not running; accepts NULL */

#endif
