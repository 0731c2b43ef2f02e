// SPDX-License-Identifier: MIT
/* Names in DNS messages: read without following anything forwards, compared, shown. */
#include "probes/dns_name.h"

#include <ares.h>
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"

/* RFC 1035, section 4.1.4: the upper two bits say whether a length or a pointer follows. */
#define POINTER 0xC0
#define MOST_LABEL 63
#define HEADER 12 /* bytes; no name stands in it */

size_t dns_name_read(const struct dns_bytes *message, size_t at, struct dns_name *ret_name)
{
	struct dns_name name;
	size_t behind = 0, run = at;

	name.length = 0;
	while (at < message->length) {
		size_t label = message->bytes[at];

		if ((label & POINTER) == POINTER && at + 1 < message->length) {
			size_t target = (label & ~(size_t)POINTER) << 8 | message->bytes[at + 1];

			/* Before the run of labels that it ends: nothing can go round. */
			if (target < HEADER || target >= run)
				return 0;
			behind = behind == 0 ? at + 2 : behind;
			run = at = target;
			continue;
		}
		if (label > MOST_LABEL || at + 1 + label > message->length ||
			name.length + 1 + label > DNS_NAME_MOST)
			return 0;
		memcpy(name.bytes + name.length, message->bytes + at, 1 + label);
		name.length += 1 + label;
		at += 1 + label;
		if (label == 0) {
			*ret_name = name;
			return behind == 0 ? at : behind;
		}
	}
	return 0;
}

static unsigned int lower(unsigned char byte)
{
	return byte >= 'A' && byte <= 'Z' ? byte | 0x20U : byte;
}

bool dns_name_equal(const struct dns_name *a, const struct dns_name *b)
{
	if (a->length != b->length)
		return false;
	/* The lengths of labels among them are below any letter. */
	for (size_t i = 0; i < a->length; i++) {
		if (lower(a->bytes[i]) != lower(b->bytes[i]))
			return false;
	}
	return true;
}

char *dns_name_show(const struct dns_name *name)
{
	char *expanded = NULL, *shown;
	long taken;

	/* Without pointers it fails for want of memory only. */
	if (ares_expand_name(name->bytes, name->bytes, (int)name->length, &expanded, &taken) !=
		ARES_SUCCESS)
		abort();
	shown = xprintf("%s.", expanded);
	ares_free_string(expanded);
	return shown;
}

char *dns_name_reverse(const char *address)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[16];
	char text[sizeof(bytes) * 4 + 1], *at = text;

	if (inet_pton(AF_INET, address, bytes) == 1)
		return xprintf("%u.%u.%u.%u.in-addr.arpa", bytes[3], bytes[2], bytes[1], bytes[0]);
	if (inet_pton(AF_INET6, address, bytes) != 1)
		return NULL;
	for (size_t i = sizeof(bytes); i > 0; i--) {
		*at++ = digits[bytes[i - 1] & 15];
		*at++ = '.';
		*at++ = digits[bytes[i - 1] >> 4];
		*at++ = '.';
	}
	*at = '\0';
	return xprintf("%sip6.arpa", text);
}
