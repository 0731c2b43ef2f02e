// SPDX-License-Identifier: MIT
/* libcurl's TLS contexts, set up by ours. */
#include "probes/http_tls.h"

/*
 * CURLOPT_SSL_CTX_FUNCTION(3), called for each connection. Which of the store and
 * libcurl's own set-up comes first differs between versions.
 */
static CURLcode set_context(CURL *easy, void *context, void *data)
{
	(void)easy;
	return tls_session_prepare(data, context) ? CURLE_OK : CURLE_SSL_CERTPROBLEM;
}

void http_tls_apply(CURL *easy, struct tls_session *session)
{
	long verify = session->conf->verify;

	/*
	 * Nothing for libcurl to load: the store is ours. Without the last of these
	 * libcurl 7.88 would keep the first store of all and use it for every probe.
	 */
	(void)curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
	(void)curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	(void)curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
	/* As tls_session_prepare() says; libcurl sets its own after it in some versions. */
	(void)curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	(void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, verify);
	(void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, verify * 2);
	(void)curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, set_context);
	(void)curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, session);
}

/* CURLOPT_PREREQFUNCTION(3). Nothing secret goes to a stranger. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's. */
static int on_ready(void *data, char *peer, char *local, int peer_port, int local_port)
{
	const struct http_ready *ready = data;

	(void)peer;
	(void)local;
	(void)peer_port;
	(void)local_port;
	if (ready->tls != NULL && !ready->tls->verified)
		return CURL_PREREQFUNC_ABORT;
	return ready->ready(ready->owner) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

void http_ready_apply(CURL *easy, struct http_ready *ready)
{
	(void)curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_ready);
	(void)curl_easy_setopt(easy, CURLOPT_PREREQDATA, ready);
}
