/* SPDX-License-Identifier: MIT */
/* probes/dns_conf.h: the configuration of a dns probe between dns*.c, for nobody else. */
#ifndef PROBES_DNS_CONF_H
#define PROBES_DNS_CONF_H

#include "probes/dns_message.h"
#include "probes/dns_rcode.h"
#include "probes/match.h"

enum dns_protocol { /* in the order of the row's choices */
	DNS_OVER_UDP,
	DNS_OVER_TCP,
};

struct dns_conf {
	const char *name;
	int type; /* index into the row's choices */
	struct conf_address server; /* host NULL: those that names are looked up with */
	int protocol; /* enum dns_protocol */
	bool recursion;
	struct dns_rcodes rcode;
	bool authoritative;
	int min_answers; /* CONF_NO_INTEGER: not given */
	const struct match *expect, *reject;

	/* Derived. */
	struct dns_question question;
	size_t wanted; /* records, where the code is NOERROR */
	const char *type_name;
	const char *name_shown;
};

extern const struct conf_field dns_fields[];
bool dns_check(void *conf, const struct conf_node *node, struct conf_load *load);

#endif
