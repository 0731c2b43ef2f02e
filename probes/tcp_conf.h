/* SPDX-License-Identifier: MIT */
/* probes/tcp_conf.h: the configuration of a tcp probe between tcp*.c, for nobody else. */
#ifndef PROBES_TCP_CONF_H
#define PROBES_TCP_CONF_H

#include "probes/tcp_step.h"
#include "probes/tls_conf.h"

#define TCP_MOST_STEPS 64 /* a login with STARTTLS has some ten */

enum tcp_ip { /* in the order of the row's choices; the first three are of enum dial_family */
	TCP_IP_ANY,
	TCP_IP_V4,
	TCP_IP_V6,
	TCP_IP_BOTH,
};

struct tcp_conf {
	struct conf_address address;
	int ip; /* enum tcp_ip */
	struct tls_conf *tls; /* NULL: none, as long as no step begins it */
	struct stream_text send;
	const struct match *expect;
	struct conf_items steps; /* of struct tcp_step */

	/* Derived. */
	struct tcp_step *script; /* the steps, or those of the short form */
	size_t script_length;
	bool tls_first; /* TLS begins before the first step */
};

extern const struct conf_field tcp_fields[];
bool tcp_check(void *conf, const struct conf_node *node, struct conf_load *load);

#endif
