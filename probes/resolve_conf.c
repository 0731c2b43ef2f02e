// SPDX-License-Identifier: MIT
/* The rows of `resolver:`, and name servers in text form. */
#include "probes/resolve_conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/dial_address.h"

#define DNS_PORT 53

const char *resolve_conf_file = "/etc/resolv.conf";

/* "192.0.2.1", "192.0.2.1:53", "2001:db8::1" or "[2001:db8::1]:53". */
static bool parse_server(const char *text, struct sockaddr_storage *ret_address)
{
	char host[64]; /* longer than any address */
	const char *end = text + strlen(text);
	const char *colon = strchr(text, ':');
	unsigned long port = DNS_PORT;
	char *rest;

	if (*text == '[') {
		text++;
		end = strchr(text, ']');
		if (end == NULL)
			return false;
		colon = end[1] == '\0' ? NULL : end + 1;
		if (colon != NULL && *colon != ':')
			return false;
	} else if (colon != NULL && strchr(colon + 1, ':') == NULL) {
		end = colon;
	} else {
		colon = NULL; /* a bare IPv6 address */
	}
	if (colon != NULL) {
		if (colon[1] < '1' || colon[1] > '9')
			return false;
		port = strtoul(colon + 1, &rest, 10);
		if (*rest != '\0' || port > 65535)
			return false;
	}
	if ((size_t)(end - text) >= sizeof(host))
		return false;
	memcpy(host, text, (size_t)(end - text));
	host[end - text] = '\0';
	/* A zone (fe80::1%eth0) is refused: c-ares 1.18 does not take one with a port. */
	if (strchr(host, '%') != NULL || !address_parse(host, ret_address))
		return false;
	address_set_port(ret_address, (unsigned int)port);
	return true;
}

static bool parse_servers(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	const struct conf_strings *servers = member;
	struct sockaddr_storage address;
	bool fine = true;

	if (!conf_list_of_strings.parse(load, field, node, member))
		return false;
	for (size_t i = 0; i < servers->count; i++) {
		const struct conf_node *item =
			node->type == CONF_SEQUENCE && i < node->count ? node->items[i] : node;

		if (!parse_server(servers->items[i], &address))
			/* Without the text: it may come from the environment, a secret. */
			fine = conf_error(load, item,
				"not the address of a name server; write 192.0.2.1, 192.0.2.1:53, "
				"2001:db8::1 or '[2001:db8::1]:53'");
	}
	return fine;
}

static void print_servers(const struct conf_field *field, const void *member, FILE *stream)
{
	conf_list_of_strings.print(field, member, stream);
}

static bool equal_servers(const struct conf_field *field, const void *a, const void *b)
{
	return conf_list_of_strings.equal(field, a, b);
}

static json_t *servers_schema(const struct conf_field *field)
{
	return conf_list_of_strings.schema(field);
}

static const struct conf_kind name_servers = {
	.name = "a list of name servers",
	.size = sizeof(struct conf_strings),
	.parse = parse_servers,
	.print = print_servers,
	.equal = equal_servers,
	.schema = servers_schema,
};

const struct conf_field resolve_fields[] = {
	CONF_ROW(struct resolve_conf, servers, struct conf_strings, name_servers,
		.help = "Name servers, address or address:port each; default: /etc/resolv.conf"),
	/* A server in the same data centre answers in ms; three tries fit into 2.1 s. */
	CONF_DURATION(struct resolve_conf, timeout, .fallback = "300ms", .min = 0.05, .max = 30,
		.help = "How long the first try waits for an answer; each further one twice as "
			"long"),
	CONF_COUNT(struct resolve_conf, tries, .fallback = "3", .min = 1, .max = 10,
		.help = "How often each name server is asked"),
	{0},
};

char *resolve_servers(const struct conf_strings *servers)
{
	char *all = NULL;

	for (size_t i = 0; i < servers->count; i++) {
		struct sockaddr_storage address;
		char *one, *longer;

		if (!parse_server(servers->items[i], &address))
			continue;
		one = address_show(&address);
		longer = all == NULL ? xstrdup(one) : xprintf("%s,%s", all, one);
		free(one);
		free(all);
		all = longer;
	}
	return all;
}
