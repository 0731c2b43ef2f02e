/* SPDX-License-Identifier: MIT */
/* probes/dns_name.h: names in DNS messages. Pure; the bytes are hostile. */
#ifndef PROBES_DNS_NAME_H
#define PROBES_DNS_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define DNS_NAME_MOST 255 /* bytes on the wire, the root's included: RFC 1035, section 2.3.4 */

struct dns_bytes {
	const unsigned char *bytes;
	size_t length;
};

/* A name without compression: labels behind their lengths, the last one empty. */
struct dns_name {
	unsigned char bytes[DNS_NAME_MOST];
	size_t length;
};

/* The offset behind the name at an offset; 0 where it is cut, too long or leads nowhere. */
size_t dns_name_read(const struct dns_bytes *message, size_t at, struct dns_name *ret_name);

bool dns_name_equal(const struct dns_name *a, const struct dns_name *b); /* but for ASCII case */

/* "node1.web.", what is no plain character escaped. free(). */
char *dns_name_show(const struct dns_name *name);

/* "192.0.2.1" -> "1.2.0.192.in-addr.arpa", IPv6 likewise; NULL where it is no address. free(). */
char *dns_name_reverse(const char *address);

#endif
