// SPDX-License-Identifier: MIT
/* Kinds that hold rows of their own: maps, lists of maps and maps of maps. */
#include <string.h>

#include "config/field_private.h"

/* Fills one struct by the rows of a map or list element, in long or short form. */
static bool load_map(struct conf_load *load, const struct conf_field *field, const char *noun,
	const struct conf_node *node, void *conf)
{
	struct field_walk walk = {.fields = field->fields, .name = field->key, .noun = noun};

	walk.node = field_long_form(load, node, field->fields, field->shorthand, field->key);
	if (walk.node == NULL || !field_walk(load, &walk, conf))
		return false;
	return field->check == NULL ||
		field->check(conf, field_is_nothing(node) ? walk.node : node, load);
}

static bool map_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	return load_map(load, field, "map", node, member);
}

static bool map_absent(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct field_walk walk = {
		.fields = field->fields,
		.node = field_empty_map(load, node),
		.lenient = true,
	};

	return field_walk(load, &walk, member);
}

static void map_print(const struct conf_field *field, const void *member, FILE *stream)
{
	field_print_flow(field->fields, member, stream);
}

static void map_print_block(
	const struct conf_field *field, const void *member, int indent, FILE *stream)
{
	(void)fputc('\n', stream);
	field_print(field->fields, member, indent + 2, stream);
}

static bool map_equal(const struct conf_field *field, const void *a, const void *b)
{
	return field_equal(field->fields, a, b);
}

/* One map of a list, of several with names, or alone. */
static json_t *element_schema(const struct conf_field *field)
{
	return field_or_shorthand(field_schema(field->fields), field->fields, field->shorthand);
}

static json_t *map_schema(const struct conf_field *field)
{
	return field_or_nothing(element_schema(field));
}

const struct conf_kind conf_map = {
	.name = "a map",
	.parse = map_parse,
	.print = map_print,
	.equal = map_equal,
	.schema = map_schema,
	.absent = map_absent,
	.print_block = map_print_block,
};

static bool pointer_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	void *conf = arena_alloc(load->arena, field->size);

	if (!load_map(load, field, "map", node, conf))
		return false;
	*(void **)member = conf;
	return true;
}

static void pointer_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const void *conf = *(const void *const *)member;

	if (conf != NULL)
		field_print_flow(field->fields, conf, stream);
}

static void pointer_print_block(
	const struct conf_field *field, const void *member, int indent, FILE *stream)
{
	const void *conf = *(const void *const *)member;

	if (conf != NULL)
		map_print_block(field, conf, indent, stream);
}

static bool pointer_equal(const struct conf_field *field, const void *a, const void *b)
{
	const void *left = *(const void *const *)a, *right = *(const void *const *)b;

	if (left == NULL || right == NULL)
		return left == right;
	return field_equal(field->fields, left, right);
}

const struct conf_kind conf_map_if = {
	.name = "a map",
	.size = sizeof(void *),
	.parse = pointer_parse,
	.print = pointer_print,
	.equal = pointer_equal,
	.schema = map_schema,
	.print_block = pointer_print_block,
};

static void *item_at(const struct conf_field *field, const struct conf_items *items, size_t index)
{
	return (char *)items->items + index * field->size;
}

static bool list_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_items *items = member;
	bool fine = true;

	if (field_is_nothing(node))
		return true;
	if (node->type != CONF_SEQUENCE)
		return conf_error(
			load, node, "'%s' is a list; start each item with '- '", field->key);
	items->items = arena_alloc(load->arena, node->count * field->size);
	items->count = node->count;
	for (size_t i = 0; i < node->count; i++)
		fine = load_map(load, field, "list", node->items[i], item_at(field, items, i)) &&
			fine;
	return fine;
}

static void list_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct conf_items *items = member;

	(void)fputc('[', stream);
	for (size_t i = 0; i < items->count; i++) {
		(void)fputs(i == 0 ? "" : ", ", stream);
		field_print_flow(field->fields, item_at(field, items, i), stream);
	}
	(void)fputc(']', stream);
}

static void list_print_block(
	const struct conf_field *field, const void *member, int indent, FILE *stream)
{
	const struct conf_items *items = member;

	if (items->count == 0)
		(void)fputs(" []", stream);
	(void)fputc('\n', stream);
	for (size_t i = 0; i < items->count; i++)
		field_print_item(field->fields, item_at(field, items, i), indent + 2, stream);
}

static bool list_equal(const struct conf_field *field, const void *a, const void *b)
{
	const struct conf_items *left = a, *right = b;

	if (left->count != right->count)
		return false;
	for (size_t i = 0; i < left->count; i++) {
		if (!field_equal(field->fields, item_at(field, left, i), item_at(field, right, i)))
			return false;
	}
	return true;
}

static json_t *list_schema(const struct conf_field *field)
{
	return json_pack("{s:s, s:o}", "type", "array", "items", element_schema(field));
}

const struct conf_kind conf_list = {
	.name = "a list",
	.size = sizeof(struct conf_items),
	.parse = list_parse,
	.print = list_print,
	.equal = list_equal,
	.schema = list_schema,
	.print_block = list_print_block,
};

static const char *name_at(const struct conf_field *field, const struct conf_items *items, size_t i)
{
	return *(const char *const *)item_at(field, items, i);
}

static bool named_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_items *items = member;
	bool fine = true;

	if (field_is_nothing(node))
		return true;
	if (node->type != CONF_MAPPING)
		return conf_error(load, node, "'%s' is a map of names, such as {NAME: {%s: ...}}",
			field->key, field->fields->key);
	items->items = arena_alloc(load->arena, node->count * field->size);
	items->count = node->count;
	for (size_t i = 0; i < node->count; i++) {
		const struct conf_entry *entry = &node->entries[i];
		/* So that a message names the one that is wrong. */
		struct conf_field named = *field;

		named.key = entry->key->text;
		*(const char **)item_at(field, items, i) = entry->key->text;
		fine = load_map(load, &named, "map", entry->value, item_at(field, items, i)) &&
			fine;
	}
	return fine;
}

static void named_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct conf_items *items = member;

	(void)fputc('{', stream);
	for (size_t i = 0; i < items->count; i++) {
		(void)fputs(i == 0 ? "" : ", ", stream);
		field_print_text(name_at(field, items, i), stream);
		(void)fputs(": ", stream);
		field_print_flow(field->fields, item_at(field, items, i), stream);
	}
	(void)fputc('}', stream);
}

static bool named_equal(const struct conf_field *field, const void *a, const void *b)
{
	const struct conf_items *left = a, *right = b;

	for (size_t i = 0; i < left->count && i < right->count; i++) {
		if (strcmp(name_at(field, left, i), name_at(field, right, i)) != 0)
			return false;
	}
	return list_equal(field, a, b);
}

static json_t *named_schema(const struct conf_field *field)
{
	return field_or_nothing(json_pack(
		"{s:s, s:o}", "type", "object", "additionalProperties", element_schema(field)));
}

const struct conf_kind conf_named = {
	.name = "a map of names",
	.size = sizeof(struct conf_items),
	.parse = named_parse,
	.print = named_print,
	.equal = named_equal,
	.schema = named_schema,
};
