// SPDX-License-Identifier: MIT
/* Kinds that hold rows of their own: maps, lists of maps, and one out of several. */
#include <string.h>

#include "config/field_private.h"

/* Fills one struct by the rows of a map or list element, in long or short form. */
static bool load_map(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, bool lenient, void *conf)
{
	struct field_walk walk = {
		.fields = field->fields,
		.node = node,
		.where = arena_printf(load->arena, " in '%s'", field->key),
		.lenient = lenient,
	};

	if (node->type != CONF_MAPPING && field->shorthand != NULL)
		walk.node = field_map_of(load, field->shorthand, (struct conf_node *)node);
	if (!field_walk(load, &walk, conf))
		return false;
	return lenient || field->check == NULL || field->check(conf, node, load);
}

static bool map_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	return load_map(load, field, node, false, member);
}

static bool map_absent(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	return load_map(load, field, field_empty_map(load, node), true, member);
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

static json_t *map_schema(const struct conf_field *field)
{
	return field_or_shorthand(field_schema(field->fields), field->fields, field->shorthand);
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

	if (!load_map(load, field, node, false, conf))
		return false;
	*(void **)member = conf;
	return true;
}

static void pointer_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const void *conf = *(const void *const *)member;

	if (conf == NULL)
		(void)fputs("null", stream);
	else
		field_print_flow(field->fields, conf, stream);
}

static void pointer_print_block(
	const struct conf_field *field, const void *member, int indent, FILE *stream)
{
	const void *conf = *(const void *const *)member;

	if (conf == NULL)
		(void)fputs(" null\n", stream);
	else
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

static bool list_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_items *items = member;
	bool fine = true;

	if (node->type != CONF_SEQUENCE)
		return conf_error(load, node, "a list is wanted in '%s'; begin each item with '- '",
			field->key);
	items->items = arena_alloc(load->arena, (node->count + 1) * field->size);
	items->count = node->count;
	for (size_t i = 0; i < node->count; i++)
		fine = load_map(load, field, node->items[i], false,
			       (char *)items->items + i * field->size) &&
			fine;
	return fine;
}

static void list_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct conf_items *items = member;

	(void)fputc('[', stream);
	for (size_t i = 0; i < items->count; i++) {
		(void)fputs(i == 0 ? "" : ", ", stream);
		field_print_flow(
			field->fields, (const char *)items->items + i * field->size, stream);
	}
	(void)fputc(']', stream);
}

static void list_print_block(
	const struct conf_field *field, const void *member, int indent, FILE *stream)
{
	const struct conf_items *items = member;

	(void)fputc('\n', stream);
	for (size_t i = 0; i < items->count; i++) {
		(void)fprintf(stream, "%*s-\n", indent + 2, "");
		field_print(field->fields, (const char *)items->items + i * field->size, indent + 4,
			stream);
	}
}

static bool list_equal(const struct conf_field *field, const void *a, const void *b)
{
	const struct conf_items *left = a, *right = b;

	if (left->count != right->count)
		return false;
	for (size_t i = 0; i < left->count; i++) {
		if (!field_equal(field->fields, (const char *)left->items + i * field->size,
			    (const char *)right->items + i * field->size))
			return false;
	}
	return true;
}

static json_t *list_schema(const struct conf_field *field)
{
	return json_pack("{s:s, s:o}", "type", "array", "items", map_schema(field));
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

static const char *list_variants(struct conf_load *load, const struct conf_field *field)
{
	const char *list = "";

	for (size_t i = 0; field->variants[i] != NULL; i++)
		list = arena_printf(load->arena, "%s%s%s", list,
			i == 0                                   ? ""
				: field->variants[i + 1] == NULL ? " or "
								 : ", ",
			field->variants[i]->name);
	return list;
}

/* The variant whose key this is, or NULL. */
static const struct conf_variant *variant_of(const struct conf_field *field, const char *key)
{
	for (size_t i = 0; field->variants[i] != NULL; i++) {
		if (strcmp(field->variants[i]->name, key) == 0)
			return field->variants[i];
	}
	return NULL;
}

static bool oneof_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_choice_of *choice = member;
	const struct conf_node *value = NULL;

	for (size_t i = 0; i < node->count; i++) {
		const struct conf_entry *entry = &node->entries[i];
		const struct conf_variant *variant = variant_of(field, entry->key->text);

		if (variant == NULL)
			continue;
		if (choice->variant != NULL)
			return conf_error(load, entry->key,
				"'%s' beside '%s' in line %u; keep one of them", variant->name,
				choice->variant->name, choice->mark.line);
		choice->variant = variant;
		choice->mark = entry->key->mark;
		value = entry->value;
	}
	if (choice->variant == NULL)
		return (field->flags & CONF_REQUIRED) == 0 ||
			conf_error(load, node, "nothing to do here: one of %s is missing",
				list_variants(load, field));
	choice->conf = arena_alloc(load->arena, choice->variant->size);
	return variant_load(load, choice->variant, value, choice->conf);
}

static void oneof_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct conf_choice_of *choice = member;

	(void)field;
	if (choice->variant == NULL)
		return;
	(void)fprintf(stream, "%s: ", choice->variant->name);
	field_print_flow(choice->variant->fields, choice->conf, stream);
}

static void oneof_print_block(
	const struct conf_field *field, const void *member, int indent, FILE *stream)
{
	const struct conf_choice_of *choice = member;

	(void)field;
	if (choice->variant == NULL)
		return;
	(void)fprintf(stream, "%s:\n", choice->variant->name);
	field_print(choice->variant->fields, choice->conf, indent + 2, stream);
}

static bool oneof_equal(const struct conf_field *field, const void *a, const void *b)
{
	const struct conf_choice_of *left = a, *right = b;

	(void)field;
	if (left->variant != right->variant || left->variant == NULL)
		return left->variant == right->variant;
	return field_equal(left->variant->fields, left->conf, right->conf);
}

static json_t *oneof_schema(const struct conf_field *field)
{
	json_t *names = json_array();

	for (size_t i = 0; field->variants[i] != NULL; i++)
		(void)json_array_append_new(names, json_string(field->variants[i]->name));
	return json_pack("{s:o}", "enum", names);
}

const struct conf_kind conf_oneof = {
	.name = "one of several keys",
	.size = sizeof(struct conf_choice_of),
	.parse = oneof_parse,
	.print = oneof_print,
	.equal = oneof_equal,
	.schema = oneof_schema,
	.print_block = oneof_print_block,
};
