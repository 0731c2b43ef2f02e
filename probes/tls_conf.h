/* SPDX-License-Identifier: MIT */
/* probes/tls_conf.h: the key `tls` of every probe type that speaks it. */
#ifndef PROBES_TLS_CONF_H
#define PROBES_TLS_CONF_H

#include "config/field.h"

struct tls_identity;
struct tls_trust;

struct tls_expires_conf { /* s before the end of a certificate; 0: no limit */
	double note, critical;
};

struct tls_conf {
	const char *ca_file; /* NULL: the system's */
	const char *server_name; /* NULL: the name that is connected to */
	const char *cert_file, *key_file; /* of the client; NULL: none */
	bool verify;
	struct tls_expires_conf expires;

	/* Derived. */
	const char *name; /* that the certificate has to be for; see tls_conf_place() */
	struct tls_trust *trust; /* nothing is read before a run needs it */
	struct tls_identity *identity; /* NULL: none */
};

extern const struct conf_field tls_fields[];

/* A row for it. The type's own check calls tls_conf_check(). */
#define TLS_MAP(T, member, ...) CONF_MAP(T, member, tls_conf, tls_fields, __VA_ARGS__)

/*
 * The rules between the keys, and what is derived, which lives as long as the
 * load's arena. node is the mapping under `tls`, NULL where it is not written.
 */
bool tls_conf_check(struct tls_conf *conf, const struct conf_node *node, struct conf_load *load);

/*
 * The same for TLS to one address, whose name it derives. node is that of the type, `tls`
 * below it or not; a unix socket has no host that could be verified.
 */
bool tls_conf_place(struct tls_conf *conf, const struct conf_address *address,
	const struct conf_node *node, struct conf_load *load);

#endif
