// SPDX-License-Identifier: MIT
/* One TLS connection: context, verification, what the server's certificates say. */
#include "probes/tls_session.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "config/units.h"
#include "probes/clock.h"
#include "probes/tls_identity.h"
#include "probes/tls_trust.h"
#include "probes/trace.h"

char *tls_session_refresh(const struct tls_conf *conf)
{
	char *problem = conf->verify ? tls_trust_refresh(conf->trust) : NULL;

	if (problem == NULL && conf->identity != NULL)
		problem = tls_identity_refresh(conf->identity);
	return problem;
}

static int session_index(void)
{
	static int index = -1;

	if (index < 0)
		index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
	return index;
}

static const char *alert_text(int value)
{
	/* The one that OpenSSL has no words for and that is met: TLS 1.3, RFC 8446, 4.4.2.4. */
	if ((value & 0xff) == SSL_AD_CERTIFICATE_REQUIRED)
		return "certificate required";
	return SSL_alert_desc_string_long(value);
}

/* "CN=web.internal", or the whole subject where it has no common name. free(). */
static char *subject_of(const X509 *certificate)
{
	X509_NAME *name = X509_get_subject_name(certificate);
	char common[256];
	char *whole, *text;

	if (X509_NAME_get_text_by_NID(name, NID_commonName, common, sizeof(common)) > 0)
		return xprintf("CN=%s", common);
	whole = X509_NAME_oneline(name, NULL, 0);
	if (whole == NULL)
		xfail();
	text = xstrdup(*whole == '\0' ? "a certificate without a subject" : whole);
	OPENSSL_free(whole);
	return text;
}

/* A date that cannot be read is 0: not one that can be near. */
static time_t end_of(const X509 *certificate, char *ret_date, size_t size)
{
	struct tm end;

	if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1)
		return 0;
	(void)snprintf(
		ret_date, size, "%04d-%02d-%02d", end.tm_year + 1900, end.tm_mon + 1, end.tm_mday);
	return timegm(&end);
}

static void note_ends(struct tls_session *session, const STACK_OF(X509) * chain)
{
	for (int i = 0; i < sk_X509_num(chain); i++) {
		const X509 *certificate = sk_X509_value(chain, i);
		char date[TLS_DATE];
		time_t ends = end_of(certificate, date, sizeof(date));

		if (ends == 0 || (session->ends != 0 && ends >= session->ends))
			continue;
		session->ends = ends;
		free(session->ending);
		session->ending = subject_of(certificate);
		memcpy(session->ends_on, date, sizeof(date));
	}
}

static void trace_chain(struct tls_session *session, const SSL *ssl, const STACK_OF(X509) * chain)
{
	char *names = xstrdup("");

	for (int i = 0; i < sk_X509_num(chain); i++) {
		char *subject = subject_of(sk_X509_value(chain, i));
		char *longer = xprintf("%s%s%s", names, i == 0 ? "" : " <- ", subject);

		free(subject);
		free(names);
		names = longer;
	}
	trace_add(session->trace, TRACE_CERTIFICATE, "%s, %s %s, ends %s%s",
		*names == '\0' ? "no certificate" : names, SSL_get_version(ssl),
		SSL_get_cipher_name(ssl), session->ends == 0 ? "?" : session->ends_on,
		session->conf->verify ? "" : ", not verified");
	free(names);
}

static bool is_http2(const SSL *ssl)
{
	const unsigned char *name;
	unsigned int length;

	SSL_get0_alpn_selected(ssl, &name, &length);
	return length == 2 && memcmp(name, "h2", 2) == 0;
}

static void note_handshake(struct tls_session *session, const SSL *ssl)
{
	const SSL_CTX *context = SSL_get_SSL_CTX(ssl);
	const STACK_OF(X509) *chain = SSL_get_peer_cert_chain(ssl);
	bool ours = SSL_CTX_get_cert_store(context) == tls_trust_store(session->conf->trust);
	bool first = !session->verified;

	/* Said once more for each ticket of TLS 1.3. */
	session->verified = !session->conf->verify || ours;
	session->http2 = is_http2(ssl);
	if (chain == NULL || !first)
		return;
	note_ends(session, chain);
	if (session->trace != NULL)
		trace_chain(session, ssl, chain);
}

/* SSL_CTX_set_info_callback(3). */
static void on_info(const SSL *ssl, int where, int value)
{
	struct tls_session *session = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), session_index());

	if (session == NULL)
		return;
	if ((where & SSL_CB_HANDSHAKE_DONE) != 0)
		note_handshake(session, ssl);
	/* "close notify" is no complaint. */
	if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT && value >> 8 == SSL3_AL_FATAL)
		session->alert = alert_text(value);
}

bool tls_session_prepare(struct tls_session *session, SSL_CTX *context)
{
	const struct tls_conf *conf = session->conf;

	tls_session_finish(session);
	if (conf->verify)
		SSL_CTX_set1_cert_store(context, tls_trust_store(conf->trust));
	(void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	/* RFC 8996: the older ones must not be used. */
	(void)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	if (SSL_CTX_set_ex_data(context, session_index(), session) != 1)
		return false;
	SSL_CTX_set_info_callback(context, on_info);
	return conf->identity == NULL || session->anonymous ||
		tls_identity_use(conf->identity, context);
}

void tls_session_finish(struct tls_session *session)
{
	free(session->ending);
	*session = (struct tls_session){
		.conf = session->conf,
		.trace = session->trace,
		.anonymous = session->anonymous,
	};
}

char *tls_session_failure(
	const struct tls_session *session, long verdict, const char *name, const char *otherwise)
{
	if (session->alert != NULL)
		return xprintf("the server refuses: %s", session->alert);
	if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH)
		return xprintf("hostname mismatch: the certificate is not for %s", name);
	if (verdict != X509_V_OK)
		return xstrdup(X509_verify_cert_error_string(verdict));
	return xstrdup(otherwise);
}

enum tls_expiry tls_expiry_judge(const struct tls_expires_conf *limits, time_t ends, double now)
{
	double left = (double)ends - now;

	if (ends == 0)
		return TLS_EXPIRY_FAR;
	if (limits->critical > 0 && left <= limits->critical)
		return TLS_EXPIRY_CRITICAL;
	return limits->note > 0 && left <= limits->note ? TLS_EXPIRY_NOTE : TLS_EXPIRY_FAR;
}

enum tls_expiry tls_session_expiry(const struct tls_session *session, char **ret_text)
{
	const struct tls_expires_conf *limits = &session->conf->expires;
	enum tls_expiry expiry = tls_expiry_judge(limits, session->ends, clock_wall());
	char limit[UNITS_DURATION_SIZE];

	*ret_text = NULL;
	if (expiry == TLS_EXPIRY_FAR)
		return expiry;
	units_print_duration(expiry == TLS_EXPIRY_CRITICAL ? limits->critical : limits->note, limit,
		sizeof(limit));
	*ret_text = xprintf(
		"certificate %s ends on %s, within %s", session->ending, session->ends_on, limit);
	return expiry;
}
