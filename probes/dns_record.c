// SPDX-License-Identifier: MIT
/* Resource records: taken apart, and their data as text. */
#include "probes/dns_record.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"

#define FIXED 10 /* bytes between owner and data: type, class, TTL, length */

unsigned int dns_get16(const struct dns_bytes *message, size_t at)
{
	return (unsigned int)message->bytes[at] << 8 | message->bytes[at + 1];
}

static uint32_t get32(const struct dns_bytes *message, size_t at)
{
	return (uint32_t)dns_get16(message, at) << 16 | dns_get16(message, at + 2);
}

size_t dns_record_read(const struct dns_bytes *message, size_t at, struct dns_record *ret_record)
{
	size_t fixed = dns_name_read(message, at, &ret_record->owner);

	if (fixed == 0 || message->length - fixed < FIXED)
		return 0;
	ret_record->type = dns_get16(message, fixed);
	ret_record->class = dns_get16(message, fixed + 2);
	ret_record->ttl = get32(message, fixed + 4);
	ret_record->size = dns_get16(message, fixed + 8);
	ret_record->data = fixed + FIXED;
	if (message->length - ret_record->data < ret_record->size)
		return 0;
	return ret_record->data + ret_record->size;
}

static char *show_address(const struct dns_bytes *message, const struct dns_record *record)
{
	int family = record->type == DNS_A ? AF_INET : AF_INET6;
	char text[INET6_ADDRSTRLEN];

	if (record->size != (family == AF_INET ? 4 : 16))
		return NULL;
	(void)inet_ntop(family, message->bytes + record->data, text, sizeof(text));
	return xstrdup(text);
}

/* A name behind numbers of 16 bits each: as MX, SRV and those that are a name only have it. */
static char *show_name(
	const struct dns_bytes *message, const struct dns_record *record, size_t numbers)
{
	size_t at = record->data, end = record->data + record->size;
	char prefix[sizeof("65535 65535 65535 ")] = "";
	struct dns_name name;
	char *shown, *text;

	if (record->size <= 2 * numbers || dns_name_read(message, at + 2 * numbers, &name) != end)
		return NULL;
	for (size_t i = 0; i < numbers; i++) {
		size_t used = strlen(prefix);

		(void)snprintf(prefix + used, sizeof(prefix) - used, "%u ",
			dns_get16(message, at + 2 * i));
	}
	shown = dns_name_show(&name);
	text = xprintf("%s%s", prefix, shown);
	free(shown);
	return text;
}

static char *show_soa(const struct dns_bytes *message, const struct dns_record *record)
{
	struct dns_name master, mailbox;
	size_t at = dns_name_read(message, record->data, &master);
	char *names[2], *text;

	at = at == 0 ? 0 : dns_name_read(message, at, &mailbox);
	/* Serial, refresh, retry, expire, minimum. */
	if (at == 0 || at + 20 != record->data + record->size)
		return NULL;
	names[0] = dns_name_show(&master);
	names[1] = dns_name_show(&mailbox);
	text = xprintf("%s %s %u %u %u %u %u", names[0], names[1], get32(message, at),
		get32(message, at + 4), get32(message, at + 8), get32(message, at + 12),
		get32(message, at + 16));
	free(names[0]);
	free(names[1]);
	return text;
}

/* One byte of a text, escaped where it must be; returns what is behind it. */
static char *put_character(char *to, unsigned char byte)
{
	if (byte < ' ' || byte == 0x7f) {
		*to++ = '\\';
		*to++ = (char)('0' + byte / 100);
		*to++ = (char)('0' + byte / 10 % 10);
		*to++ = (char)('0' + byte % 10);
		return to;
	}
	if (byte == '"' || byte == '\\')
		*to++ = '\\';
	*to++ = (char)byte;
	return to;
}

/* Texts in quotes, a blank between them: RFC 1035, section 5.1. */
static char *show_texts(const struct dns_bytes *message, const struct dns_record *record)
{
	const unsigned char *at = message->bytes + record->data, *end = at + record->size;
	/* At worst each byte is \DDD, and each length two quotes and a blank. */
	char *text = xcalloc(record->size + 1, 4), *to = text;

	while (at < end) {
		const unsigned char *behind = at + 1 + *at;

		if (behind > end)
			break;
		to = stpcpy(to, to == text ? "\"" : " \"");
		for (at++; at < behind; at++)
			to = put_character(to, *at);
		*to++ = '"';
	}
	*to = '\0';
	/* There is at least one, be it empty, and each is whole. */
	if (at < end || record->size == 0) {
		free(text);
		return NULL;
	}
	return text;
}

char *dns_record_text(const struct dns_bytes *message, const struct dns_record *record)
{
	switch (record->type) {
	case DNS_A:
	case DNS_AAAA:
		return show_address(message, record);
	case DNS_SOA:
		return show_soa(message, record);
	case DNS_TXT:
		return show_texts(message, record);
	case DNS_MX:
		return show_name(message, record, 1);
	case DNS_SRV:
		return show_name(message, record, 3);
	case DNS_NS:
	case DNS_CNAME:
	case DNS_PTR:
		return show_name(message, record, 0);
	default:
		return NULL;
	}
}
