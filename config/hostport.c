// SPDX-License-Identifier: MIT
/* HOST:PORT as text: what is taken, and what is wrong with the rest. */
#include "config/hostport.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
#define LABEL_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" DIGITS "-_"

/* RFC 1035, section 2.3.4, less the length byte of the root. */
#define MOST_NAME 253
#define MOST_LABEL 63

static const char *parse_port(const char *text, unsigned int *ret_port)
{
	size_t length = strspn(text, DIGITS);
	unsigned long port;

	if (length == 0)
		return *text == '\0' ? "a port must follow its ':'" : "its port is not a number";
	if (*text == '0' && length > 1 && text[length] == '\0')
		return "its port has a leading zero";
	if (text[length] != '\0' && length < 6)
		return "its port is not a number";
	/* Six digits are too many, whatever they are. */
	port = length < 6 ? strtoul(text, NULL, 10) : 0;
	if (port == 0 || port > 65535)
		return "its port must be from 1 to 65535";
	*ret_port = (unsigned int)port;
	return NULL;
}

static const char *check_address(const char *host)
{
	struct in6_addr address;

	if (strchr(host, '%') != NULL)
		return "an address with a zone ('%') is not supported";
	return inet_pton(AF_INET6, host, &address) == 1
		? NULL
		: "what stands in the brackets is not an IPv6 address";
}

static const char *check_name(const char *host)
{
	const char *label = host;
	struct in_addr address;
	size_t length;

	if (*host == '\0')
		return "its host is missing";
	if (strlen(host) > MOST_NAME)
		return "its host is too long";
	for (;;) {
		length = strspn(label, LABEL_CHARACTERS);
		if (label[length] != '.' && label[length] != '\0')
			return "its host holds a character that no name has";
		if (length == 0 || length > MOST_LABEL)
			return "a part of its host is empty or longer than 63 bytes";
		/* One dot at the end says that the name is whole. */
		if (label[length] == '\0' || label[length + 1] == '\0')
			break;
		label += length + 1;
	}
	/* 127.1 and 2130706433 are addresses to some libraries and names to others. */
	if (strspn(label, DIGITS) == length && inet_pton(AF_INET, host, &address) != 1)
		return "its host is neither a name nor an IPv4 address of four numbers";
	return NULL;
}

const char *hostport_parse(struct arena *arena, const char *text, struct hostport *ret)
{
	bool bracketed = *text == '[';
	const char *end = bracketed ? strchr(text, ']') : text + strcspn(text, ":");
	struct hostport found = {0};
	const char *complaint;

	if (end == NULL)
		return "a ']' is missing";
	if (!bracketed && *end == ':' && strchr(end + 1, ':') != NULL)
		return "an IPv6 address stands in brackets, such as [::1]";
	found.host = arena_strndup(arena, text + bracketed, (size_t)(end - text) - bracketed);
	complaint = bracketed ? check_address(found.host) : check_name(found.host);
	if (complaint != NULL)
		return complaint;
	end += bracketed;
	if (*end != ':' && *end != '\0')
		return "only a port may follow the ']'";
	if (*end == ':') {
		complaint = parse_port(end + 1, &found.port);
		if (complaint != NULL)
			return complaint;
	}
	*ret = found;
	return NULL;
}
