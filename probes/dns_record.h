/* SPDX-License-Identifier: MIT */
/* probes/dns_record.h: resource records in DNS messages. Pure; the bytes are hostile. */
#ifndef PROBES_DNS_RECORD_H
#define PROBES_DNS_RECORD_H

#include <stdint.h>

#include "probes/dns_name.h"

/* RFC 1035, section 3.2.2; 3596 (AAAA), 2782 (SRV), 6891 (OPT). */
enum dns_type {
	DNS_A = 1,
	DNS_NS = 2,
	DNS_CNAME = 5,
	DNS_SOA = 6,
	DNS_PTR = 12,
	DNS_MX = 15,
	DNS_TXT = 16,
	DNS_AAAA = 28,
	DNS_SRV = 33,
	DNS_OPT = 41,
};

#define DNS_IN 1 /* the class of the Internet */

struct dns_record {
	struct dns_name owner;
	unsigned int type, class;
	uint32_t ttl;
	size_t data, size; /* offset and length */
};

unsigned int dns_get16(const struct dns_bytes *message, size_t at); /* the bytes are there */

/* The offset behind the record at an offset; 0 where it is cut or its owner is no name. */
size_t dns_record_read(const struct dns_bytes *message, size_t at, struct dns_record *ret_record);

/*
 * The data as master files have it, "10 60 8080 node1.web."; NULL where it is not as its
 * type, one of the above but OPT, wants it. free().
 */
char *dns_record_text(const struct dns_bytes *message, const struct dns_record *record);

#endif
