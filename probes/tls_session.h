/* SPDX-License-Identifier: MIT */
/* probes/tls_session.h: one TLS connection of a client: how it is set up, what it told. */
#ifndef PROBES_TLS_SESSION_H
#define PROBES_TLS_SESSION_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <time.h>

#include "probes/tls_conf.h"

struct trace;

#define TLS_DATE 40 /* bytes of a date: "2027-01-05", and whatever numbers stand for one */

/* A struct of zeroes but for the first three is a fresh one; tls_session_finish() frees. */
struct tls_session {
	const struct tls_conf *conf; /* borrowed */
	struct trace *trace; /* gets the chain in one line; NULL: nobody asked */
	bool anonymous; /* the client's certificate is not shown */

	const char *alert; /* static: why the server broke off, "bad certificate"; NULL */
	bool verified; /* the handshake is over, and as conf->verify wants it */
	bool http2; /* agreed upon (ALPN) */
	time_t ends; /* when the first of the server's certificates does; 0: not known */
	char ends_on[TLS_DATE]; /* the day of it, UTC */
	char *ending; /* that one's name; owned */
};

/* Reads the files that changed. NULL, or why one cannot be used, naming it (free()). */
char *tls_session_refresh(const struct tls_conf *conf);

/*
 * Sets a fresh context up: authorities, versions, client certificate, no session
 * resumption. The session outlives it; tls_session_refresh() has succeeded. False where
 * OpenSSL refuses the client's certificate.
 */
bool tls_session_prepare(struct tls_session *session, SSL_CTX *context);
void tls_session_finish(struct tls_session *session); /* all zero again, but for the first three */

/*
 * Why a handshake failed, without times and numbers that differ: by the server's alert,
 * the verdict on its certificate (X509_V_*; X509_V_OK: not verified yet), else `otherwise`.
 * name: what the certificate has to be for. free().
 */
char *tls_session_failure(
	const struct tls_session *session, long verdict, const char *name, const char *otherwise);

enum tls_expiry {
	TLS_EXPIRY_FAR,
	TLS_EXPIRY_NOTE,
	TLS_EXPIRY_CRITICAL,
};

/* Pure: `ends` and `now` in seconds of the wall clock; an end of 0 is not known, and far. */
enum tls_expiry tls_expiry_judge(const struct tls_expires_conf *limits, time_t ends, double now);

/* As above for what the server showed; *ret_text is a line about it, or NULL (free()). */
enum tls_expiry tls_session_expiry(const struct tls_session *session, char **ret_text);

#endif
