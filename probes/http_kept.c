// SPDX-License-Identifier: MIT
/* A connection kept between runs: libcurl's cache of one, for one check. */
#include "probes/http_kept.h"

#include <stdlib.h>

#include "config/arena.h"

struct http_kept {
	struct curlev *curlev; /* holds one connection at most; NULL before the first run */
	struct tls_session tls;
	unsigned int fresh_every;
	unsigned int runs; /* over the connection that is kept; 0: there is none */
};

struct http_kept *http_kept_create(unsigned int fresh_every)
{
	struct http_kept *kept = xcalloc(1, sizeof(*kept));

	kept->fresh_every = fresh_every;
	return kept;
}

void http_kept_drop(struct http_kept *kept)
{
	kept->runs = 0;
}

void http_kept_destroy(struct http_kept *kept)
{
	if (kept == NULL)
		return;
	/* The farewell of TLS still tells the session. */
	curlev_destroy(kept->curlev);
	tls_session_finish(&kept->tls);
	free(kept);
}

bool http_kept_is_ready(const struct http_kept *kept)
{
	return kept->runs > 0 && kept->runs < kept->fresh_every;
}

void http_kept_keep(struct http_kept *kept)
{
	kept->runs++;
}

struct curlev *http_kept_curlev(struct http_kept *kept, struct ev_loop *loop)
{
	if (kept->curlev == NULL)
		kept->curlev = curlev_create(loop, 1);
	return kept->curlev;
}

struct tls_session *http_kept_tls(struct http_kept *kept)
{
	return &kept->tls;
}
