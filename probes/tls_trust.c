// SPDX-License-Identifier: MIT
/* Certificate authorities, kept between runs and shared between probes. */
#include "probes/tls_trust.h"

#include <curl/curl.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/arena.h"

struct tls_trust {
	struct tls_trust *next;
	unsigned int shares;
	char *path;
	X509_STORE *store; /* NULL until read */
	struct stat read_as; /* the file when it was read */
};

static struct tls_trust *trusts; /* a list: few files, looked up at load only */

/* The file that libcurl was built to use, or OpenSSL's: one for all types of probes. */
static const char *system_path(void)
{
	const char *path = curl_version_info(CURLVERSION_NOW)->cainfo;

	return path == NULL ? X509_get_default_cert_file() : path;
}

struct tls_trust *tls_trust_share(const char *path)
{
	const char *wanted = path == NULL ? system_path() : path;
	struct tls_trust *trust = trusts;

	while (trust != NULL && strcmp(trust->path, wanted) != 0)
		trust = trust->next;
	if (trust == NULL) {
		trust = xcalloc(1, sizeof(*trust));
		trust->path = xstrdup(wanted);
		trust->next = trusts;
		trusts = trust;
	}
	trust->shares++;
	return trust;
}

void tls_trust_release(struct tls_trust *trust)
{
	struct tls_trust **link = &trusts;

	if (trust == NULL || --trust->shares > 0)
		return;
	while (*link != trust)
		link = &(*link)->next;
	*link = trust->next;
	X509_STORE_free(trust->store);
	free(trust->path);
	free(trust);
}

bool tls_file_is_as_read(const struct stat *now, const struct stat *then)
{
	return now->st_dev == then->st_dev && now->st_ino == then->st_ino &&
		now->st_size == then->st_size && now->st_mtim.tv_sec == then->st_mtim.tv_sec &&
		now->st_mtim.tv_nsec == then->st_mtim.tv_nsec &&
		now->st_ctim.tv_sec == then->st_ctim.tv_sec &&
		now->st_ctim.tv_nsec == then->st_ctim.tv_nsec;
}

char *tls_file_look(const char *path, struct stat *ret_now)
{
	if (stat(path, ret_now) != 0)
		return xprintf("%s: %s", path, strerror(errno));
	if (!S_ISREG(ret_now->st_mode))
		return xprintf("%s: not a regular file", path);
	if (access(path, R_OK) != 0)
		return xprintf("%s: %s", path, strerror(errno));
	return NULL;
}

char *tls_trust_refresh(struct tls_trust *trust)
{
	struct stat now;
	X509_STORE *store;
	char *problem = tls_file_look(trust->path, &now);

	if (problem != NULL)
		return problem;
	if (trust->store != NULL && tls_file_is_as_read(&now, &trust->read_as))
		return NULL;
	store = X509_STORE_new();
	if (store == NULL)
		xfail();
	if (X509_STORE_load_file(store, trust->path) != 1) {
		ERR_clear_error();
		X509_STORE_free(store);
		return xprintf("%s: holds no certificate in PEM form", trust->path);
	}
	/* As libcurl does with its own: an intermediate authority alone may be trusted. */
	(void)X509_STORE_set_flags(store, X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
	X509_STORE_free(trust->store);
	trust->store = store;
	trust->read_as = now;
	return NULL;
}

X509_STORE *tls_trust_store(const struct tls_trust *trust)
{
	return trust->store;
}
