// SPDX-License-Identifier: MIT
/* Secrets: given or read from a file, never printed. */
#include <string.h>

#include "config/field_private.h"

struct secret_map {
	const char *file;
	const char *prefix;
};

static const struct conf_field secret_fields[] = {
	CONF_PATH(struct secret_map, file, .flags = CONF_REQUIRED,
		.help = "File that holds the value; read again when it changes"),
	CONF_STRING(struct secret_map, prefix, .help = "Text put before the value"),
	{0},
};

static bool secret_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_secret *secret = member;
	struct secret_map map = {0};
	struct conf_text text;

	secret->prefix = "";
	if (node->type != CONF_MAPPING) {
		if (!field_scalar(load, field, node, &text))
			return false;
		secret->value = text.text;
		return true;
	}
	if (!field_load(load, secret_fields, node, NULL, &map))
		return false;
	secret->file = map.file;
	secret->prefix = map.prefix == NULL ? "" : map.prefix;
	return true;
}

static void secret_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct conf_secret *secret = member;

	(void)field;
	if (secret->file != NULL) {
		(void)fputs("{file: ", stream);
		field_print_text(secret->file, stream);
		(void)fputs("}", stream);
	} else {
		(void)fputs(secret->value == NULL ? "null" : "\"***\"", stream);
	}
}

static bool same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool secret_equal(const struct conf_field *field, const void *a, const void *b)
{
	const struct conf_secret *left = a, *right = b;

	(void)field;
	return same(left->value, right->value) && same(left->file, right->file) &&
		same(left->prefix, right->prefix);
}

static json_t *secret_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:[{s:[s, s, s]}, o]}", "anyOf", "type", "string", "number", "boolean",
		field_schema(secret_fields));
}

const struct conf_kind conf_secret_text = {
	.name = "a text or {file: PATH}",
	.size = sizeof(struct conf_secret),
	.parse = secret_parse,
	.print = secret_print,
	.equal = secret_equal,
	.schema = secret_schema,
};

static bool pairs_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_pairs *pairs = member;
	struct conf_pair *items;
	bool fine = true;

	if (node->type != CONF_MAPPING)
		return conf_error(
			load, node, "a map of names and values is wanted here, such as {A: b}");
	items = arena_alloc(load->arena, (node->count + 1) * sizeof(*items));
	for (size_t i = 0; i < node->count; i++) {
		items[i].name = node->entries[i].key->text;
		fine = secret_parse(load, field, node->entries[i].value, &items[i].value) && fine;
	}
	pairs->items = items;
	pairs->count = node->count;
	return fine;
}

static void pairs_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct conf_pairs *pairs = member;

	(void)fputc('{', stream);
	for (size_t i = 0; i < pairs->count; i++) {
		(void)fputs(i == 0 ? "" : ", ", stream);
		field_print_text(pairs->items[i].name, stream);
		(void)fputs(": ", stream);
		secret_print(field, &pairs->items[i].value, stream);
	}
	(void)fputc('}', stream);
}

static bool pairs_equal(const struct conf_field *field, const void *a, const void *b)
{
	const struct conf_pairs *left = a, *right = b;

	if (left->count != right->count)
		return false;
	for (size_t i = 0; i < left->count; i++) {
		if (strcmp(left->items[i].name, right->items[i].name) != 0 ||
			!secret_equal(field, &left->items[i].value, &right->items[i].value))
			return false;
	}
	return true;
}

static json_t *pairs_schema(const struct conf_field *field)
{
	return json_pack(
		"{s:s, s:o}", "type", "object", "additionalProperties", secret_schema(field));
}

const struct conf_kind conf_map_of_secrets = {
	.name = "a text or {file: PATH}",
	.size = sizeof(struct conf_pairs),
	.parse = pairs_parse,
	.print = pairs_print,
	.equal = pairs_equal,
	.schema = pairs_schema,
};
