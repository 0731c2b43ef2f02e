/* SPDX-License-Identifier: MIT */
/* probes/http_trust.h: certificate authorities, loaded once for all probes that name the file. */
#ifndef PROBES_HTTP_TRUST_H
#define PROBES_HTTP_TRUST_H

#include <curl/curl.h>
#include <stdbool.h>

/*
 * The authorities in one file. Parsing the system's 140 takes 20 ms of CPU and
 * 1 MB, so it is done at first use and when the file changed, not per run.
 */
struct http_trust;

/* A share in the file's authorities; NULL: the system's own file. Nothing is read yet. */
struct http_trust *http_trust_share(const char *path);
void http_trust_release(struct http_trust *trust); /* accepts NULL */

/* Reads the file if it changed. NULL, or why it cannot be used, naming the file (free()). */
char *http_trust_refresh(struct http_trust *trust);

/* What a TLS session of ours tells beside libcurl's code. */
struct http_tls_report {
	const char *alert; /* static: why the server broke off, "bad certificate"; NULL */
	bool verified; /* the handshake is over, and it was by our authorities */
};

/*
 * Has easy verify servers by trust, and report filled. Both outlive the transfer;
 * http_trust_refresh() has succeeded.
 */
struct http_tls {
	struct http_trust *trust;
	struct http_tls_report report;
};
void http_trust_apply(CURL *easy, struct http_tls *tls);

#endif
