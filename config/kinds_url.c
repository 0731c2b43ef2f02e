// SPDX-License-Identifier: MIT
/* Kinds of places: http URLs and endpoints. What is shown of them holds no secret. */
#include <stdlib.h>
#include <string.h>

#include "config/field_private.h"

#define DIGITS "0123456789"

static bool all_printable(const char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text <= 0x20 || *text == 0x7f)
			return false;
	}
	return true;
}

/* A port of 1 to 65535 without a leading zero that fills the whole text; 0 for anything else. */
static unsigned int parse_port(const char *text)
{
	size_t length = strspn(text, DIGITS);
	unsigned long port;

	if (length == 0 || length > 5 || text[length] != '\0' || *text == '0')
		return 0;
	port = strtoul(text, NULL, 10);
	return port <= 65535 ? (unsigned int)port : 0;
}

/* Splits "host", "host:port" or "[v6]:port" at its last colon; the port's text, NULL if none. */
static const char *split_host(struct arena *arena, const char *authority, const char **ret_host)
{
	const char *end = strchr(authority, ']');

	if (*authority == '[') {
		if (end == NULL || (end[1] != '\0' && end[1] != ':'))
			return NULL;
		*ret_host = arena_strndup(arena, authority + 1, (size_t)(end - authority - 1));
		return end[1] == ':' ? end + 2 : NULL;
	}
	end = strchr(authority, ':');
	*ret_host = end == NULL ? arena_strdup(arena, authority)
				: arena_strndup(arena, authority, (size_t)(end - authority));
	return end == NULL ? NULL : end + 1;
}

/* The URL without what may be secret: "user:***@" before the host, "?…" behind the path. */
static const char *redact(struct arena *arena, const char *url)
{
	const char *start = strstr(url, "://");
	size_t authority = start == NULL ? 0 : strcspn(start + 3, "/?#");
	const char *at = NULL;
	const char *user = "", *hidden = "";
	const char *rest;
	size_t path;

	if (start == NULL)
		return "***";
	start += 3;
	for (size_t i = 0; i < authority; i++)
		at = start[i] == '@' ? start + i : at;
	rest = at == NULL ? start : at + 1;
	if (at != NULL) {
		size_t name = strcspn(start, ":@");

		user = arena_strndup(arena, start, name);
		hidden = start[name] == ':' ? ":***@" : "@";
	}
	path = strcspn(rest, "?#");
	return arena_printf(arena, "%.*s%s%s%.*s%s", (int)(start - url), url, user, hidden,
		(int)path, rest, rest[path] == '?' ? "?\xe2\x80\xa6" : "");
}

static bool host_is_fine(const char *host)
{
	size_t length = host == NULL ? 0 : strlen(host);

	return length > 0 && length < 256 && strpbrk(host, "/?#@[]%\\\"<>^`{|}") == NULL;
}

static bool fill_url(struct conf_load *load, const struct conf_node *node,
	const struct conf_text *text, struct conf_url *url)
{
	struct arena *arena = load->arena;
	bool secure = strncmp(text->text, "https://", 8) == 0;
	const char *authority = text->text + (secure ? 8 : 7);
	const char *host, *port = NULL;
	char *place = arena_strndup(arena, authority, strcspn(authority, "/?#"));
	char *at = strrchr(place, '@');

	host = at == NULL ? place : at + 1;
	url->host = NULL;
	port = split_host(arena, host, &url->host);
	if (!host_is_fine(url->host))
		return conf_error(load, node,
			"'%s' names no host; write http://HOST/ or http://HOST:PORT/, an IPv6 "
			"address in brackets",
			url->shown);
	url->port = port == NULL ? (secure ? 443 : 80) : parse_port(port);
	if (url->port == 0)
		return conf_error(
			load, node, "the port in '%s' must lie between 1 and 65535", url->shown);
	url->scheme = secure ? "https" : "http";
	url->text = text->text;
	return true;
}

static bool url_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_url *url = member;
	struct conf_text text;

	if (!field_scalar(load, field, node, &text))
		return false;
	url->shown = redact(load->arena, text.shown);
	if (strncmp(text.text, "http://", 7) != 0 && strncmp(text.text, "https://", 8) != 0)
		return conf_error(
			load, node, "a URL must begin with http:// or https://, in lower case");
	if (!all_printable(text.text))
		return conf_error(load, node,
			"'%s' holds a blank or a control character; write %%20 for a blank",
			url->shown);
	return fill_url(load, node, &text, url);
}

static void url_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct conf_url *url = member;

	(void)field;
	if (url->text == NULL)
		(void)fputs("null", stream);
	else
		field_print_text(url->shown, stream);
}

static bool same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool url_equal(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	return same(((const struct conf_url *)a)->text, ((const struct conf_url *)b)->text);
}

static json_t *url_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:s, s:s}", "type", "string", "pattern", "^(https?://|[$])");
}

const struct conf_kind conf_http_url = {
	.name = "a URL",
	.size = sizeof(struct conf_url),
	.parse = url_parse,
	.print = url_print,
	.equal = url_equal,
	.schema = url_schema,
};

/* sockaddr_un holds 107 bytes and a NUL: unix(7). */
#define UNIX_PATH_MAX_BYTES 107

static bool parse_socket(struct conf_load *load, const struct conf_node *node,
	const struct conf_text *text, struct conf_address *address)
{
	const char *path = text->text + strlen("unix:");

	if (strncmp(path, "//", 2) == 0)
		path += 2;
	if (*path != '/' || strlen(path) > UNIX_PATH_MAX_BYTES)
		return conf_error(load, node,
			"'%s' is no unix socket; write unix:///PATH with a path of at most %d "
			"bytes",
			text->shown, UNIX_PATH_MAX_BYTES);
	address->path = path;
	return true;
}

static bool address_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_address *address = member;
	struct conf_text text;
	const char *port;

	if (!field_scalar(load, field, node, &text))
		return false;
	address->shown = text.shown;
	if (strncmp(text.text, "unix:", strlen("unix:")) == 0)
		return parse_socket(load, node, &text, address);
	port = split_host(load->arena, text.text, &address->host);
	if (port == NULL || !host_is_fine(address->host) || !all_printable(text.text))
		return conf_error(load, node,
			"'%s' is no address; write HOST:PORT, [IPv6]:PORT or unix:///PATH",
			text.shown);
	address->port = parse_port(port);
	if (address->port == 0)
		return conf_error(
			load, node, "the port in '%s' must lie between 1 and 65535", text.shown);
	return true;
}

static void address_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct conf_address *address = member;

	(void)field;
	if (address->shown == NULL)
		(void)fputs("null", stream);
	else
		field_print_text(address->shown, stream);
}

static bool address_equal(const struct conf_field *field, const void *a, const void *b)
{
	const struct conf_address *left = a, *right = b;

	(void)field;
	return same(left->host, right->host) && same(left->path, right->path) &&
		left->port == right->port;
}

static json_t *address_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:s}", "type", "string");
}

const struct conf_kind conf_endpoint = {
	.name = "an address",
	.size = sizeof(struct conf_address),
	.parse = address_parse,
	.print = address_print,
	.equal = address_equal,
	.schema = address_schema,
};
