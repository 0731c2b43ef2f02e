// SPDX-License-Identifier: MIT
/* Certificate, chain and key of a client, kept parsed between runs. */
#include "probes/tls_identity.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>

#include "config/arena.h"
#include "probes/tls_trust.h"

struct tls_identity {
	char *cert_file, *key_file;
	struct stat cert_as, key_as; /* the files when they were read */
	X509 *certificate; /* NULL until both were read and belong together */
	STACK_OF(X509) * chain; /* what stands behind the certificate */
	EVP_PKEY *key;
};

struct tls_identity *tls_identity_create(const char *cert_file, const char *key_file)
{
	struct tls_identity *identity = xcalloc(1, sizeof(*identity));

	identity->cert_file = xstrdup(cert_file);
	identity->key_file = xstrdup(key_file);
	return identity;
}

static void forget(struct tls_identity *identity)
{
	X509_free(identity->certificate);
	sk_X509_pop_free(identity->chain, X509_free);
	EVP_PKEY_free(identity->key);
	identity->certificate = NULL;
	identity->chain = NULL;
	identity->key = NULL;
}

void tls_identity_destroy(struct tls_identity *identity)
{
	if (identity == NULL)
		return;
	forget(identity);
	free(identity->cert_file);
	free(identity->key_file);
	free(identity);
}

static char *read_certificates(struct tls_identity *identity)
{
	BIO *file = BIO_new_file(identity->cert_file, "r");
	X509 *next;

	if (file != NULL)
		identity->certificate = PEM_read_bio_X509(file, NULL, NULL, NULL);
	identity->chain = sk_X509_new_null();
	if (identity->chain == NULL)
		xfail();
	while (identity->certificate != NULL &&
		(next = PEM_read_bio_X509(file, NULL, NULL, NULL)) != NULL) {
		if (sk_X509_push(identity->chain, next) == 0)
			xfail();
	}
	BIO_free(file);
	ERR_clear_error();
	if (identity->certificate == NULL)
		return xprintf("%s: holds no certificate in PEM form", identity->cert_file);
	return NULL;
}

/* pem_password_cb(3): there is nobody to ask. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the type is OpenSSL's. */
static int no_passphrase(char *buffer, int size, int writing, void *asked)
{
	(void)buffer;
	(void)size;
	(void)writing;
	*(bool *)asked = true;
	return -1;
}

static char *read_key(struct tls_identity *identity)
{
	BIO *file = BIO_new_file(identity->key_file, "r");
	bool asked = false;

	if (file != NULL)
		identity->key = PEM_read_bio_PrivateKey(file, NULL, no_passphrase, &asked);
	BIO_free(file);
	ERR_clear_error();
	if (asked)
		return xprintf("%s: the key has a passphrase, which nobody is there to give; store "
			       "it without one",
			identity->key_file);
	if (identity->key == NULL)
		return xprintf("%s: holds no private key in PEM form", identity->key_file);
	return NULL;
}

char *tls_identity_refresh(struct tls_identity *identity)
{
	struct stat cert_now, key_now;
	char *problem = tls_file_look(identity->cert_file, &cert_now);

	if (problem == NULL)
		problem = tls_file_look(identity->key_file, &key_now);
	if (problem != NULL)
		return problem;
	if (identity->certificate != NULL && tls_file_is_as_read(&cert_now, &identity->cert_as) &&
		tls_file_is_as_read(&key_now, &identity->key_as))
		return NULL;
	forget(identity);
	problem = read_certificates(identity);
	if (problem == NULL)
		problem = read_key(identity);
	if (problem == NULL && X509_check_private_key(identity->certificate, identity->key) != 1)
		problem = xprintf("%s: is not the key of the certificate in %s", identity->key_file,
			identity->cert_file);
	ERR_clear_error();
	if (problem != NULL)
		forget(identity);
	identity->cert_as = cert_now;
	identity->key_as = key_now;
	return problem;
}

bool tls_identity_use(const struct tls_identity *identity, SSL_CTX *context)
{
	bool used = SSL_CTX_use_cert_and_key(
			    context, identity->certificate, identity->key, identity->chain, 1) == 1;

	ERR_clear_error();
	return used;
}
