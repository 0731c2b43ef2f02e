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

struct curlev *curlev_create(struct ev_loop *loop, long most_connections);
void curlev_destroy(struct curlev *curlev); /* removes transfers still in; accepts NULL */

/* The probes' own, made at first use on this loop; curlev_shared_destroy() at exit. */
struct curlev *curlev_shared(struct ev_loop *loop);
void curlev_shared_destroy(void);

/* One transfer, a member of the caller's run. done is called from the loop, outside libcurl. */
struct curlev_transfer {
	struct curlev *curlev; /* NULL while not running */
	CURL *easy;
	void (*done)(struct curlev_transfer *transfer, CURLcode result);
};

/* Starts the transfer of an easy handle; CURLOPT_PRIVATE becomes ours. */
void curlev_start(struct curlev *curlev, struct curlev_transfer *transfer, CURL *easy,
	void (*done)(struct curlev_transfer *transfer, CURLcode result));

/* Takes it out; done is not called. Not from inside a libcurl callback. Idempotent. */
void curlev_stop(struct curlev_transfer *transfer);

/*
 * Easy handles for reuse: a fresh one costs 20 KB and its set-up. curlev_easy()
 * gives a handle as after curl_easy_reset(), with what every request of ours
 * wants: no proxy, no netrc, no signals, no Expect, HTTP and HTTPS only.
 */
CURL *curlev_easy(struct curlev *curlev);
void curlev_give_back(struct curlev *curlev, CURL *easy); /* accepts NULL */

#endif
