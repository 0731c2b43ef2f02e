/* SPDX-License-Identifier: MIT */
/* probes/tls_identity.h: a client's certificate and key, read again when they change. */
#ifndef PROBES_TLS_IDENTITY_H
#define PROBES_TLS_IDENTITY_H

#include <openssl/ssl.h>
#include <stdbool.h>

struct tls_identity;

/* Both files in PEM form, the certificate first and what leads to its authority behind it. */
struct tls_identity *tls_identity_create(const char *cert_file, const char *key_file);
void tls_identity_destroy(struct tls_identity *identity); /* accepts NULL */

/* Reads what changed. NULL, or why it cannot be used, naming the file (free()). */
char *tls_identity_refresh(struct tls_identity *identity);

/* Has a context present it; tls_identity_refresh() has succeeded. False: refused by OpenSSL. */
bool tls_identity_use(const struct tls_identity *identity, SSL_CTX *context);

#endif
