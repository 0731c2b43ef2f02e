/* SPDX-License-Identifier: MIT */
/* probes/dns_rcode.h: the codes with which name servers answer, and sets of them. */
#ifndef PROBES_DNS_RCODE_H
#define PROBES_DNS_RCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "config/field.h"

/* RFC 1035, section 4.1.1; the others have names too. */
enum dns_rcode {
	DNS_NOERROR,
	DNS_FORMERR,
	DNS_SERVFAIL,
	DNS_NXDOMAIN,
	DNS_NOTIMP,
	DNS_REFUSED,
};

/* Enough for any name, the terminator included. */
#define DNS_RCODE_SIZE 16

/* "NXDOMAIN", or "RCODE17" for one without a name. Of twelve bits, the EDNS ones included. */
void dns_rcode_show(unsigned int rcode, char buffer[DNS_RCODE_SIZE]);

struct dns_rcodes {
	uint32_t bits;
};

bool dns_rcodes_have(const struct dns_rcodes *set, unsigned int rcode); /* any code */

/* A row kind: one of, or a list of, their names. */
extern const struct conf_kind dns_rcodes;
#define DNS_RCODES(T, member, ...) CONF_ROW(T, member, struct dns_rcodes, dns_rcodes, __VA_ARGS__)

#endif
