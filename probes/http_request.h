/* SPDX-License-Identifier: MIT */
/* probes/http_request.h: every byte that an HTTP probe sends. */
#ifndef PROBES_HTTP_REQUEST_H
#define PROBES_HTTP_REQUEST_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#include "probes/http_conf.h"

/*
 * What one run sends: the headers with the secrets of this moment, and where it is
 * in a chain of redirects. A struct of zeroes is an empty one.
 */
struct http_request {
	const struct http_conf *conf;
	const struct http_place *place; /* where it goes now; borrowed */
	const char *method;
	bool bare; /* a redirect took the body away */
	bool abroad; /* a redirect led to another host or port: no credentials from then on */

	/* Ours. */
	char **lines; /* one for each of conf->headers; owned, wiped */
	struct curl_slist *list; /* as libcurl wants them; owned, but not what it points to */
	char *url, *host_line; /* where the URL's host is not what is asked for; owned */
	char *password; /* of basic_auth; owned, wiped */
	char *form; /* encoded; owned, wiped */
	const char *body; /* what is sent, unless bare; NULL: nothing */
	const char *type_line; /* the header that goes with it; NULL: none by itself */
};

/*
 * Begins with conf's own place and method, and reads the secrets. NULL, or why one of
 * them cannot be used, without its value (free()).
 */
char *http_request_init(struct http_request *request, const struct http_conf *conf);

/* Sets all on easy, which borrows from the request until the transfer has ended. */
void http_request_apply(CURL *easy, struct http_request *request);
void http_request_finish(struct http_request *request); /* wipes and frees */

/* Back at conf's own place and method, for another round with the same secrets. */
void http_request_rewind(struct http_request *request);

/* "POST https://web.internal/orders?…, 12 bytes of body"; without secrets. free(). */
char *http_request_show(const struct http_request *request);

/* The name that the server's certificate has to be for. Borrowed. */
const char *http_request_name(const struct http_request *request);

#endif
