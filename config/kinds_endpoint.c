// SPDX-License-Identifier: MIT
/* The kind of an endpoint: HOST:PORT or a unix socket. */
#include <string.h>

#include "config/field_private.h"
#include "config/hostport.h"

/* sockaddr_un holds 107 bytes and a NUL: unix(7). */
#define MOST_SOCKET_PATH 107

#define UNIX_SCHEME "unix://"

static const char *parse_socket(const char *path, struct conf_address *address)
{
	if (*path != '/')
		return "the path of a socket must be absolute, such as unix:///run/x.sock";
	if (strlen(path) > MOST_SOCKET_PATH)
		return "the path of a socket has at most 107 bytes";
	address->path = path;
	return NULL;
}

static const char *parse_host(struct arena *arena, const char *text, struct conf_address *address)
{
	struct hostport place = {0};
	const char *complaint;

	if (strstr(text, "://") != NULL)
		return "write it without a scheme, such as 127.0.0.1:25";
	if (strncmp(text, "unix:", strlen("unix:")) == 0)
		return "write a unix socket as unix:///PATH";
	complaint = hostport_parse(arena, text, &place);
	if (complaint != NULL)
		return complaint;
	if (place.port == 0)
		return "its port is missing";
	address->host = place.host;
	address->port = place.port;
	return NULL;
}

static bool endpoint_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_address *address = member;
	struct conf_text text;
	const char *complaint;

	if (!field_scalar(load, field, node, &text))
		return false;
	if (strncmp(text.text, UNIX_SCHEME, strlen(UNIX_SCHEME)) == 0)
		complaint = parse_socket(text.text + strlen(UNIX_SCHEME), address);
	else
		complaint = parse_host(load->arena, text.text, address);
	if (complaint != NULL)
		return conf_error(load, node,
			"'%s': '%s' is not HOST:PORT, [IPv6]:PORT or unix:///PATH: %s", field->key,
			text.shown, complaint);
	address->shown = text.shown;
	return true;
}

static void endpoint_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct conf_address *address = member;

	(void)field;
	if (address->shown != NULL)
		field_print_text(address->shown, stream);
}

static bool endpoint_equal(const struct conf_field *field, const void *a, const void *b)
{
	const struct conf_address *left = a, *right = b;

	(void)field;
	return field_same_text(left->host, right->host) &&
		field_same_text(left->path, right->path) && left->port == right->port;
}

static json_t *endpoint_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:s, s:s}", "type", "string", "pattern",
		"^unix:///.|^(\\[[0-9A-Fa-f:.]+(%[^\\]]+)?\\]|[^\\s:/"
		"\\[\\]]+):[1-9][0-9]{0,4}$|\\$\\{");
}

const struct conf_kind conf_endpoint = {
	.name = "HOST:PORT or unix:///PATH",
	.size = sizeof(struct conf_address),
	.parse = endpoint_parse,
	.print = endpoint_print,
	.equal = endpoint_equal,
	.schema = endpoint_schema,
};
