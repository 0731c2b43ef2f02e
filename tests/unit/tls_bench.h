/* SPDX-License-Identifier: MIT */
/* tests/unit/tls_bench.h: certificates made on the spot, and open descriptors. */
#ifndef TESTS_UNIT_TLS_BENCH_H
#define TESTS_UNIT_TLS_BENCH_H

#include <openssl/x509.h>

/* Self-signed, valid for a day: CN=web, for the name web and the address 127.0.0.1. X509_free(). */
X509 *tls_bench_certificate(EVP_PKEY *key);

unsigned int tls_bench_descriptors(void); /* that are open */

#endif
