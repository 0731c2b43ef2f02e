// SPDX-License-Identifier: MIT
/* Value kinds of the top level: the agent's address and the list of checks. */
#include "runner/settings_rows.h"

#include <string.h>

#include "runner/settings.h"

static bool parse_unix(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct consul_address *address)
{
	if (!conf_endpoint.parse(load, field, node, &address->endpoint))
		return false;
	address->transport = CONSUL_UNIX;
	address->base = "http://localhost"; /* any Host will do on a unix socket */
	address->host = "localhost";
	return true;
}

static bool parse_http(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct consul_address *address)
{
	struct conf_url url = {0};
	const char *rest;

	if (!conf_http_url.parse(load, field, node, &url))
		return false;
	rest = strchr(strstr(url.text, "://") + strlen("://"), '/');
	if ((rest != NULL && rest[1] != '\0') || strchr(url.text, '?') != NULL ||
		strchr(url.text, '@') != NULL || strchr(url.text, '#') != NULL)
		return conf_error(load, node,
			"an agent's address is scheme, host and port only, such as "
			"http://127.0.0.1:8500");
	address->transport = strcmp(url.scheme, "https") == 0 ? CONSUL_HTTPS : CONSUL_HTTP;
	address->base = arena_printf(load->arena,
		strchr(url.host, ':') != NULL ? "%s://[%s]:%u" : "%s://%s:%u", url.scheme, url.host,
		url.port);
	address->host = url.host;
	address->endpoint =
		(struct conf_address){.host = url.host, .port = url.port, .shown = url.shown};
	return true;
}

static bool address_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct consul_address *address = member;
	struct conf_text text;

	if (!field_scalar(load, field, node, &text))
		return false;
	if (strcmp(text.text, "off") == 0) {
		address->off = true;
		address->base = "off";
		return true;
	}
	if (strncmp(text.text, "unix:", strlen("unix:")) == 0)
		return parse_unix(load, field, node, address);
	if (strstr(text.text, "://") == NULL)
		return conf_error(load, node,
			"'%s' is no address of an agent; write http://127.0.0.1:8500, "
			"unix:///path/to/socket or off",
			text.shown);
	return parse_http(load, field, node, address);
}

static void address_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct consul_address *address = member;

	(void)field;
	if (address->transport == CONSUL_UNIX && !address->off)
		(void)fprintf(stream, "unix://%s", address->endpoint.path);
	else
		(void)fputs(address->base, stream);
}

static bool address_equal(const struct conf_field *field, const void *a, const void *b)
{
	const struct consul_address *left = a, *right = b;

	if (left->off != right->off || left->transport != right->transport ||
		strcmp(left->base, right->base) != 0)
		return false;
	return left->off || left->transport != CONSUL_UNIX ||
		conf_endpoint.equal(field, &left->endpoint, &right->endpoint);
}

static json_t *address_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:s, s:s}", "type", "string", "pattern",
		"^(off|https?://[^/?#@]+/?|unix:///.+)$");
}

const struct conf_kind settings_consul_address = {
	.name = "an agent's address",
	.size = sizeof(struct consul_address),
	.parse = address_parse,
	.print = address_print,
	.equal = address_equal,
	.schema = address_schema,
};

/*
 * What the checks of this list may leave out: the `defaults` beside it, and behind them
 * those of the file, for keys that the nearer ones have not.
 */
static const struct conf_node *inherited(struct conf_load *load)
{
	const struct conf_node *file = load->user, *near = node_get(field_map(load), "defaults");
	struct conf_node *both;

	if (near == NULL || near->type != CONF_MAPPING || near == file)
		return file;
	if (file == NULL || file->type != CONF_MAPPING)
		return near;
	both = arena_alloc(load->arena, sizeof(*both));
	*both = *near;
	both->entries =
		arena_alloc(load->arena, (near->count + file->count) * sizeof(*both->entries));
	memcpy(both->entries, near->entries, near->count * sizeof(*near->entries));
	for (size_t i = 0; i < file->count; i++) {
		if (node_get(near, file->entries[i].key->text) == NULL)
			both->entries[both->count++] = file->entries[i];
	}
	return both;
}

static bool list_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_items *items = member;
	const struct conf_node *defaults = inherited(load);
	struct check_conf *checks;
	bool fine = true;

	if (node->type != CONF_SEQUENCE)
		return conf_error(
			load, node, "%s must be a list: each starts with '- name: …'", field->key);
	checks = arena_alloc(load->arena, (node->count + 1) * sizeof(*checks));
	for (size_t i = 0; i < node->count; i++) {
		checks[i].mark = node->items[i]->mark;
		if (!field_load(load, field->fields, node->items[i], defaults, &checks[i]))
			fine = false;
	}
	items->items = checks;
	items->count = node->count;
	return fine;
}

static void list_print(const struct conf_field *field, const void *member, FILE *stream)
{
	conf_list.print(field, member, stream);
}

/* Most rows that a check may have; more would not be printed, which a test of dumps sees. */
#define MOST_ROWS 64

static void print_check(
	const struct conf_field *fields, const struct check_conf *check, int indent, FILE *stream)
{
	struct conf_field rows[MOST_ROWS] = {0};
	size_t count = 0;

	for (; fields->kind != NULL && count < MOST_ROWS - 1; fields++) {
		if (check->composed == NULL || !settings_compose_lacks(fields->key))
			rows[count++] = *fields;
	}
	field_print_item(rows, check, indent, stream);
}

static void list_print_block(
	const struct conf_field *field, const void *member, int indent, FILE *stream)
{
	const struct conf_items *items = member;
	const struct check_conf *checks = items->items;

	if (items->count == 0)
		(void)fputs(" []", stream);
	(void)fputc('\n', stream);
	for (size_t i = 0; i < items->count; i++)
		print_check(field->fields, &checks[i], indent + 2, stream);
}

static bool list_equal(const struct conf_field *field, const void *a, const void *b)
{
	return conf_list.equal(field, a, b);
}

static json_t *list_schema(const struct conf_field *field)
{
	return conf_list.schema(field);
}

const struct conf_kind settings_check_list = {
	.name = "a list of checks",
	.size = sizeof(struct conf_items),
	.parse = list_parse,
	.print = list_print,
	.equal = list_equal,
	.schema = list_schema,
	.print_block = list_print_block,
};
