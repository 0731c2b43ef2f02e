/* SPDX-License-Identifier: MIT */
/* probes/http_failure.h: why a libcurl transfer failed, in stable words. */
#ifndef PROBES_HTTP_FAILURE_H
#define PROBES_HTTP_FAILURE_H

#include <curl/curl.h>

#include "probes/outcome.h"
#include "probes/tls_session.h"

/* What there is beside libcurl's code where a transfer failed. */
struct http_failure {
	CURLcode result;
	int error; /* errno of the socket, 0 if none */
	long verified; /* CURLINFO_SSL_VERIFYRESULT */
	const struct tls_session *tls; /* conf is NULL where there was none */
	const char *name; /* that the certificate has to be for */
	const char *socket; /* that libcurl connects to by itself; NULL: it does not */
};

/* Takes over what easy knows, error and verified; its transfer has just ended. */
void http_failure_ask(struct http_failure *failure, CURL *easy);

/* Of a result other than CURLE_OK. *ret_text is one line (free()). */
enum probe_reason http_failure_judge(const struct http_failure *failure, char **ret_text);

#endif
