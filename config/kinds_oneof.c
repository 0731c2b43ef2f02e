// SPDX-License-Identifier: MIT
/* One out of several maps told apart by their key. */
#include <string.h>

#include "config/field_private.h"

static const char *variant_name(const void *variants, size_t index)
{
	const struct conf_variant *variant = ((const struct conf_variant *const *)variants)[index];

	return variant == NULL ? NULL : variant->name;
}

static const struct conf_variant *variant_of(const struct conf_field *field, const char *key)
{
	for (size_t i = 0; field->variants[i] != NULL; i++) {
		if (strcmp(field->variants[i]->name, key) == 0)
			return field->variants[i];
	}
	return NULL;
}

/* node is the outer map: the variants' keys stand in it. */
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
				"a second %s, '%s' beside '%s' in line %u; keep one of %s",
				field->key, variant->name, choice->variant->name, choice->mark.line,
				field_join(load, field->variants, variant_name));
		choice->variant = variant;
		choice->mark = entry->key->mark;
		value = entry->value;
	}
	if (choice->variant == NULL)
		return (field->flags & CONF_REQUIRED) == 0 ||
			conf_error(load, node, "no %s here; add one of the keys %s", field->key,
				field_join(load, field->variants, variant_name));
	choice->conf = arena_alloc(load->arena, choice->variant->size);
	return field_load_variant(load, choice->variant, field->key, value, choice->conf);
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

/* What joins the outer map's schema: the variants as properties, exactly one of them there. */
static json_t *oneof_schema(const struct conf_field *field)
{
	json_t *properties = json_object(), *required = json_array();

	for (size_t i = 0; field->variants[i] != NULL; i++) {
		const struct conf_variant *variant = field->variants[i];
		json_t *schema = field_or_shorthand(
			field_schema(variant->fields), variant->fields, variant->shorthand);

		(void)json_object_set_new(schema, "description", json_string(variant->summary));
		(void)json_object_set_new(properties, variant->name, schema);
		(void)json_array_append_new(
			required, json_pack("{s:[s]}", "required", variant->name));
	}
	if ((field->flags & CONF_REQUIRED) != 0)
		return json_pack("{s:o, s:o}", "properties", properties, "oneOf", required);
	json_decref(required);
	return json_pack("{s:o}", "properties", properties);
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
