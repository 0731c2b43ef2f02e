// SPDX-License-Identifier: MIT
/* Socket addresses from text and back. */
#include "probes/dial_address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "config/arena.h"

bool address_parse(const char *host, struct sockaddr_storage *ret_address)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret_address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret_address;
	const char *zone = strchr(host, '%');
	char bare[INET6_ADDRSTRLEN];
	size_t length = zone == NULL ? strlen(host) : (size_t)(zone - host);

	*ret_address = (struct sockaddr_storage){0};
	if (length >= sizeof(bare))
		return false;
	memcpy(bare, host, length);
	bare[length] = '\0';
	if (zone == NULL && inet_pton(AF_INET, bare, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		return true;
	}
	if (inet_pton(AF_INET6, bare, &v6->sin6_addr) != 1)
		return false;
	v6->sin6_family = AF_INET6;
	/* 0 for one that is not there: connect() then says so. */
	v6->sin6_scope_id = zone == NULL ? 0 : if_nametoindex(zone + 1);
	return true;
}

void address_set_port(struct sockaddr_storage *address, unsigned int port)
{
	if (address->ss_family == AF_INET)
		((struct sockaddr_in *)address)->sin_port = htons((uint16_t)port);
	else if (address->ss_family == AF_INET6)
		((struct sockaddr_in6 *)address)->sin6_port = htons((uint16_t)port);
}

socklen_t address_length(const struct sockaddr_storage *address)
{
	switch (address->ss_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return sizeof(struct sockaddr_un);
	}
}

unsigned int address_port(const struct sockaddr_storage *address)
{
	/* It stands at the same place in both families. */
	return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

char *address_show_host(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
	char text[INET6_ADDRSTRLEN] = "";
	char zone[IF_NAMESIZE] = "";

	if (address->ss_family == AF_INET) {
		(void)inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
		return xstrdup(text);
	}
	(void)inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
	if (v6->sin6_scope_id != 0)
		(void)if_indextoname(v6->sin6_scope_id, zone);
	return xprintf("%s%s%s", text, *zone ? "%" : "", zone);
}

char *address_show(const struct sockaddr_storage *address)
{
	bool is_v4 = address->ss_family == AF_INET;
	char *host, *text;

	if (!is_v4 && address->ss_family != AF_INET6)
		return xstrdup(((const struct sockaddr_un *)address)->sun_path);
	host = address_show_host(address);
	text = xprintf(is_v4 ? "%s:%u" : "[%s]:%u", host, address_port(address));
	free(host);
	return text;
}
