// SPDX-License-Identifier: MIT
/* TLS to the agent. */
#include "runner/consul_tls.h"

#include <stdlib.h>

#include "config/arena.h"
#include "probes/http_tls.h"
#include "probes/tls_identity.h"
#include "probes/tls_trust.h"

void consul_tls_init(struct consul_tls *tls, const struct consul_conf *conf)
{
	const struct tls_conf *given = &conf->tls;

	*tls = (struct consul_tls){.used = conf->address.transport == CONSUL_HTTPS};
	if (!tls->used)
		return;
	tls->name = xstrdup(given->server_name != NULL ? given->server_name : conf->address.host);
	/* The configuration may be replaced while connections live on. */
	tls->conf.verify = given->verify;
	tls->conf.trust = tls_trust_share(given->ca_file);
	if (given->cert_file != NULL)
		tls->conf.identity = tls_identity_create(given->cert_file, given->key_file);
	tls->session.conf = &tls->conf;
}

void consul_tls_finish(struct consul_tls *tls)
{
	if (!tls->used)
		return;
	tls_session_finish(&tls->session);
	tls_trust_release(tls->conf.trust);
	tls_identity_destroy(tls->conf.identity);
	free(tls->name);
}

char *consul_tls_refresh(struct consul_tls *tls)
{
	return tls->used ? tls_session_refresh(&tls->conf) : NULL;
}

void consul_tls_apply(struct consul_tls *tls, CURL *easy)
{
	if (tls->used)
		http_tls_apply(easy, &tls->session);
}

static bool is_of_tls(CURLcode result)
{
	return result == CURLE_SSL_CONNECT_ERROR || result == CURLE_PEER_FAILED_VERIFICATION ||
		result == CURLE_SSL_CERTPROBLEM || result == CURLE_SSL_CIPHER ||
		result == CURLE_SSL_ISSUER_ERROR || result == CURLE_SSL_CACERT_BADFILE;
}

/* Over a connection that was made for it, before any answer. */
static bool is_cut_at_once(CURL *easy, CURLcode result)
{
	long connects = 0, code = 0;

	(void)curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
	(void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
	return connects > 0 && code == 0 &&
		(result == CURLE_SEND_ERROR || result == CURLE_RECV_ERROR ||
			result == CURLE_GOT_NOTHING);
}

char *consul_tls_failure(struct consul_tls *tls, CURL *easy, CURLcode result, bool *ret_refused)
{
	const char *alert = tls->session.alert;
	const char *hint = tls->conf.identity == NULL
		? "no client certificate is configured: cert_file and key_file under consul.tls"
		: "the client certificate is that of consul.tls";
	char *problem, *text;
	long verified = 0;

	if (!tls->used)
		return NULL;
	/*
	 * With TLS 1.3 a client that is refused hears of it only after its handshake
	 * (RFC 8446, 4.4.2.4), and where it writes first, libcurl does not read the reason.
	 */
	if (alert != NULL) {
		*ret_refused = true;
		return xprintf("TLS: the agent refuses: %s (%s)", alert, hint);
	}
	if (is_cut_at_once(easy, result))
		return xprintf("TLS: the agent closed the connection at once, as it does with a "
			       "client that it refuses (%s)",
			hint);
	if (!is_of_tls(result))
		return NULL;
	*ret_refused = true;
	(void)curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &verified);
	problem = tls_session_failure(&tls->session, http_tls_verdict(result, verified), tls->name,
		curl_easy_strerror(result));
	text = xprintf("TLS: %s", problem);
	free(problem);
	return text;
}
