/* SPDX-License-Identifier: MIT */
/* probes/grpc_conf.h: the configuration of a grpc probe between grpc*.c, for nobody else. */
#ifndef PROBES_GRPC_CONF_H
#define PROBES_GRPC_CONF_H

#include "config/field.h"
#include "probes/tls_conf.h"

struct grpc_conf {
	struct conf_address address;
	const char *service; /* "": the server as a whole */
	int ip; /* enum dial_family */
	struct tls_conf *tls; /* NULL: in clear */
	const char *authority; /* NULL: the address */
	struct conf_pairs metadata;
	bool watch; /* a call of Watch stays open between the runs */

	/* Derived. */
	const char *origin; /* of URLs, whose host is what the certificate has to be for */
	const char *host_line; /* "Host: AUTHORITY" */
	const char *tls_name; /* that host, without brackets */
};

extern const struct conf_field grpc_fields[];
bool grpc_check(void *conf, const struct conf_node *node, struct conf_load *load);

#endif
