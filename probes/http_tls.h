/* SPDX-License-Identifier: MIT */
/* probes/http_tls.h: TLS of an HTTP probe: libcurl's handshakes by our rules. */
#ifndef PROBES_HTTP_TLS_H
#define PROBES_HTTP_TLS_H

#include <curl/curl.h>

#include "probes/tls_session.h"

/*
 * Has easy verify servers as session->conf says, and the session filled. It outlives the
 * transfer; tls_session_refresh() has succeeded.
 */
void http_tls_apply(CURL *easy, struct tls_session *session);

/*
 * What was wrong with the server's certificate, as X509_V_* says it; X509_V_OK where that
 * was not it. verified: CURLINFO_SSL_VERIFYRESULT. libcurl looks at the name itself,
 * and no verdict of OpenSSL's stands there then.
 */
static inline long http_tls_verdict(CURLcode result, long verified)
{
	if (result != CURLE_PEER_FAILED_VERIFICATION)
		return X509_V_OK;
	if (verified == X509_V_OK || verified == X509_V_ERR_UNSPECIFIED ||
		verified == X509_V_ERR_IP_ADDRESS_MISMATCH)
		return X509_V_ERR_HOSTNAME_MISMATCH;
	return verified;
}

/*
 * Told once the connection stands and, with TLS, the handshake is over, before anything is
 * sent; false ends the transfer with CURLE_ABORTED_BY_CALLBACK. libcurl must not be called.
 */
struct http_ready {
	const struct tls_session *tls; /* must have been verified; NULL: no TLS */
	bool (*ready)(void *owner);
	void *owner;
};

/* *ready outlives the transfer. */
void http_ready_apply(CURL *easy, struct http_ready *ready);

#endif
