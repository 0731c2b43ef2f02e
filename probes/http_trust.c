// SPDX-License-Identifier: MIT
/* Certificate authorities for libcurl, kept between runs, and alerts of servers. */
#include "probes/http_trust.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/arena.h"

struct http_trust {
	struct http_trust *next;
	unsigned int shares;
	char *path;
	X509_STORE *store; /* NULL until read */
	struct stat read_as; /* the file when it was read */
};

static struct http_trust *trusts; /* a list: few files, looked up at load only */

/* The file that libcurl was built to use, or OpenSSL's. */
static const char *system_path(void)
{
	const char *path = curl_version_info(CURLVERSION_NOW)->cainfo;

	return path == NULL ? X509_get_default_cert_file() : path;
}

struct http_trust *http_trust_share(const char *path)
{
	const char *wanted = path == NULL ? system_path() : path;
	struct http_trust *trust = trusts;

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

void http_trust_release(struct http_trust *trust)
{
	struct http_trust **link = &trusts;

	if (trust == NULL || --trust->shares > 0)
		return;
	while (*link != trust)
		link = &(*link)->next;
	*link = trust->next;
	X509_STORE_free(trust->store);
	free(trust->path);
	free(trust);
}

static bool is_as_read(const struct stat *now, const struct stat *then)
{
	return now->st_dev == then->st_dev && now->st_ino == then->st_ino &&
		now->st_size == then->st_size && now->st_mtim.tv_sec == then->st_mtim.tv_sec &&
		now->st_mtim.tv_nsec == then->st_mtim.tv_nsec &&
		now->st_ctim.tv_sec == then->st_ctim.tv_sec &&
		now->st_ctim.tv_nsec == then->st_ctim.tv_nsec;
}

char *http_trust_refresh(struct http_trust *trust)
{
	struct stat now;
	X509_STORE *store;

	if (stat(trust->path, &now) != 0)
		return xprintf("%s: %s", trust->path, strerror(errno));
	/* A FIFO would stop the loop in open(). */
	if (!S_ISREG(now.st_mode))
		return xprintf("%s: not a regular file", trust->path);
	if (trust->store != NULL && is_as_read(&now, &trust->read_as))
		return NULL;
	if (access(trust->path, R_OK) != 0)
		return xprintf("%s: %s", trust->path, strerror(errno));
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

static int report_index(void)
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

/* SSL_CTX_set_info_callback(3). */
static void on_info(const SSL *ssl, int where, int value)
{
	SSL_CTX *context = SSL_get_SSL_CTX(ssl);
	struct http_tls *tls = SSL_CTX_get_ex_data(context, report_index());

	if (tls == NULL)
		return;
	if ((where & SSL_CB_HANDSHAKE_DONE) != 0)
		tls->report.verified = SSL_CTX_get_cert_store(context) == tls->trust->store;
	/* "close notify" is no complaint. */
	if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT && value >> 8 == SSL3_AL_FATAL)
		tls->report.alert = alert_text(value);
}

/*
 * CURLOPT_SSL_CTX_FUNCTION(3), called for each connection. Which of the store and
 * libcurl's own set-up comes first differs between versions.
 */
static CURLcode set_context(CURL *easy, void *context, void *data)
{
	struct http_tls *tls = data;

	(void)easy;
	SSL_CTX_set1_cert_store(context, tls->trust->store);
	if (SSL_CTX_set_ex_data(context, report_index(), tls) == 1)
		SSL_CTX_set_info_callback(context, on_info);
	return CURLE_OK;
}

void http_trust_apply(CURL *easy, struct http_tls *tls)
{
	tls->report = (struct http_tls_report){0};
	/*
	 * Nothing for libcurl to load: the store is ours. Without the last of these
	 * libcurl 7.88 would keep the first store of all and use it for every probe.
	 */
	(void)curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
	(void)curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	(void)curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
	/* RFC 8996: the older ones must not be used. */
	(void)curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	(void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	(void)curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, set_context);
	(void)curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, tls);
}
