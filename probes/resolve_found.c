// SPDX-License-Identifier: MIT
/* What a lookup found, or why nothing. */
#include "probes/resolve_found.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/arena.h"

/* The worst first: what one family says is hidden by what is worse with the other. */
static const struct {
	int status;
	const char *text;
} errors[] = {
	{ARES_ETIMEOUT, "no answer from the name servers"},
	/* c-ares goes on to the next server at these three, and says the first at the end. */
	{ARES_ECONNREFUSED, "the name servers fail or cannot be reached"},
	{ARES_ESERVFAIL, "the name servers fail or cannot be reached"},
	{ARES_EREFUSED, "the name servers fail or cannot be reached"},
	{ARES_EBADNAME, "not a valid name"},
	{ARES_ENOMEM, "no memory or descriptor for a lookup"},
	{ARES_ENOTINITIALIZED, "the resolver cannot start"},
	{ARES_ENODATA, "the name has no such address"},
	{ARES_ENOTFOUND, "no such name"},
};

#define ERROR_COUNT (sizeof(errors) / sizeof(*errors))

/* 0 for what the table does not have, the best for no error at all. */
static size_t error_rank(int status)
{
	if (status == ARES_SUCCESS)
		return ERROR_COUNT + 1;
	for (size_t i = 0; i < ERROR_COUNT; i++) {
		if (errors[i].status == status)
			return i + 1;
	}
	return 0;
}

const char *found_error(int status)
{
	size_t rank = error_rank(status);

	return rank >= 1 && rank <= ERROR_COUNT ? errors[rank - 1].text
						: "bad answer from the name server";
}

void found_keep(struct found *found, const struct ares_addrinfo *answer)
{
	size_t room = 0;

	for (const struct ares_addrinfo_node *node = answer->nodes; node != NULL;
		node = node->ai_next)
		room += room < FOUND_MOST_ADDRESSES;
	found->addresses = xcalloc(room + 1, sizeof(*found->addresses));
	found->ttl = FOUND_MOST_KEPT;
	for (const struct ares_addrinfo_node *node = answer->nodes;
		node != NULL && found->count < room; node = node->ai_next) {
		if ((node->ai_family != AF_INET && node->ai_family != AF_INET6) ||
			node->ai_addrlen > sizeof(*found->addresses))
			continue;
		memcpy(&found->addresses[found->count++], node->ai_addr, node->ai_addrlen);
		if (node->ai_ttl < found->ttl)
			found->ttl = node->ai_ttl;
	}
	for (const struct ares_addrinfo_cname *name = answer->cnames; name != NULL;
		name = name->next) {
		if (name->ttl < found->ttl)
			found->ttl = name->ttl;
	}
	if (found->count == 0)
		found->status = ARES_ENODATA;
}

bool found_is_localhost(const char *host)
{
	size_t length = strlen(host);

	if (length > 0 && host[length - 1] == '.')
		length--;
	if (length < 9 || strncasecmp(host + length - 9, "localhost", 9) != 0)
		return false;
	return length == 9 || host[length - 10] == '.';
}

void found_loopback(struct found *found, int family)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
	struct sockaddr_in v4 = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	found->addresses = xcalloc(2, sizeof(*found->addresses));
	if (family != AF_INET)
		memcpy(&found->addresses[found->count++], &v6, sizeof(v6));
	if (family != AF_INET6)
		memcpy(&found->addresses[found->count++], &v4, sizeof(v4));
}

void found_join(const struct found *first, const struct found *second, struct found *ret_found)
{
	const struct found *parts[] = {first, second};
	struct found joined = {.ttl = FOUND_MOST_KEPT};

	joined.addresses = xcalloc(first->count + second->count + 1, sizeof(*joined.addresses));
	for (size_t i = 0; i < first->count || i < second->count; i++) {
		for (size_t part = 0; part < 2; part++) {
			if (i < parts[part]->count)
				joined.addresses[joined.count++] = parts[part]->addresses[i];
		}
	}
	for (size_t part = 0; part < 2; part++) {
		if (parts[part]->count > 0 && parts[part]->ttl < joined.ttl)
			joined.ttl = parts[part]->ttl;
	}
	joined.status = error_rank(first->status) < error_rank(second->status) ? first->status
									       : second->status;
	*ret_found = joined;
}
