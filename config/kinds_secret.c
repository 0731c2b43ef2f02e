// SPDX-License-Identifier: MIT
/* Kinds of secrets: given or read from a file, never printed. */
#include <string.h>

#include "config/field_private.h"

struct source {
	const char *file;
	const char *prefix;
};

static const struct conf_field source_fields[] = {
	CONF_PATH(struct source, file, .flags = CONF_REQUIRED,
		.help = "File that holds the value; read again when it changes"),
	CONF_STRING(struct source, prefix, .fallback = "",
		.help = "Text put before the value, such as 'Bearer '"),
	{0},
};

static bool secret_absent(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	(void)load;
	(void)field;
	(void)node;
	((struct conf_secret *)member)->prefix = "";
	return true;
}

static bool secret_from_file(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct conf_secret *secret)
{
	struct source source = {0};
	struct field_walk walk = {
		.fields = source_fields, .node = node, .name = field->key, .noun = "map"};

	if (!field_walk(load, &walk, &source))
		return false;
	secret->file = source.file;
	secret->prefix = source.prefix;
	return true;
}

static bool secret_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_secret *secret = member;
	struct conf_text text;

	secret->prefix = "";
	if (node->type == CONF_MAPPING)
		return secret_from_file(load, field, node, secret);
	if (!field_scalar(load, field, node, &text))
		return false;
	secret->value = text.text;
	return true;
}

static void secret_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct conf_secret *secret = member;

	(void)field;
	if (secret->file != NULL) {
		(void)fputs("{file: ", stream);
		field_print_text(field_shown(secret->file), stream);
		/* "Bearer " is no secret, but nobody knows what others put here. */
		(void)fputs(*secret->prefix == '\0' ? "}" : ", prefix: \"***\"}", stream);
	} else if (secret->value != NULL) {
		(void)fputs("\"***\"", stream);
	}
}

static bool secret_equal(const struct conf_field *field, const void *a, const void *b)
{
	const struct conf_secret *left = a, *right = b;

	(void)field;
	return field_same_text(left->value, right->value) &&
		field_same_text(left->file, right->file) &&
		field_same_text(left->prefix, right->prefix);
}

static json_t *secret_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:[o, o]}", "anyOf", field_text_schema(), field_schema(source_fields));
}

const struct conf_kind conf_secret_text = {
	.name = "a text or {file: PATH}",
	.size = sizeof(struct conf_secret),
	.parse = secret_parse,
	.print = secret_print,
	.equal = secret_equal,
	.schema = secret_schema,
	.absent = secret_absent,
};

static bool pairs_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_pairs *pairs = member;
	struct conf_pair *items;
	bool fine = true;

	if (field_is_nothing(node))
		return true;
	if (node->type != CONF_MAPPING)
		return conf_error(load, node, "'%s' is a map of names and values, such as {A: b}",
			field->key);
	items = arena_alloc(load->arena, (node->count + 1) * sizeof(*items));
	for (size_t i = 0; i < node->count; i++) {
		const struct conf_entry *entry = &node->entries[i];
		/* So that a message names the one value that is wrong. */
		struct conf_field named = *field;

		named.key = entry->key->text;
		items[i].name = entry->key->text;
		fine = secret_parse(load, &named, entry->value, &items[i].value) && fine;
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
	.title = "a map of texts; each may be {file: PATH, prefix: TEXT}",
	.size = sizeof(struct conf_pairs),
	.parse = pairs_parse,
	.print = pairs_print,
	.equal = pairs_equal,
	.schema = pairs_schema,
};
