/* SPDX-License-Identifier: MIT */
/* probes/tls_trust.h: files of TLS, loaded once for all probes that name them. */
#ifndef PROBES_TLS_TRUST_H
#define PROBES_TLS_TRUST_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <sys/stat.h>

/*
 * The authorities in one file. Parsing the system's 140 takes 20 ms of CPU and
 * 1 MB, so it is done at first use and when the file changed, not per run.
 */
struct tls_trust;

/* A share in the file's authorities; NULL: the system's own file. Nothing is read yet. */
struct tls_trust *tls_trust_share(const char *path);
void tls_trust_release(struct tls_trust *trust); /* accepts NULL */

/* Reads the file if it changed. NULL, or why it cannot be used, naming the file (free()). */
char *tls_trust_refresh(struct tls_trust *trust);

X509_STORE *tls_trust_store(const struct tls_trust *trust); /* borrowed; refresh succeeded */

/*
 * What a file was like when it was read. Fails on anything but a regular file: a
 * FIFO would stop the loop in open(). NULL, or why it cannot be read (free()).
 */
char *tls_file_look(const char *path, struct stat *ret_now);
bool tls_file_is_as_read(const struct stat *now, const struct stat *then);

#endif
