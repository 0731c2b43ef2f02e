// SPDX-License-Identifier: MIT
/* Certificates made on the spot. */
#include "tests/unit/tls_bench.h"

#include <dirent.h>
#include <openssl/x509v3.h>

#include "tests/unit/unit.h"

X509 *tls_bench_certificate(EVP_PKEY *key)
{
	X509 *certificate = X509_new();
	X509_NAME *name = X509_get_subject_name(certificate);
	X509_EXTENSION *names =
		X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "DNS:web,IP:127.0.0.1");

	assert_non_null(names);
	X509_set_version(certificate, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
	X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
	X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
	X509_set_pubkey(certificate, key);
	X509_NAME_add_entry_by_txt(
		name, "CN", MBSTRING_ASC, (const unsigned char *)"web", -1, -1, 0);
	X509_set_issuer_name(certificate, name);
	X509_add_ext(certificate, names, -1);
	X509_EXTENSION_free(names);
	assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);
	return certificate;
}

unsigned int tls_bench_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned int count = 0;

	assert_non_null(folder);
	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}
