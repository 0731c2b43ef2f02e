// SPDX-License-Identifier: MIT
/* The kind of a list of texts, such as an argument vector. */
#include <string.h>

#include "config/field_private.h"

static bool strings_absent(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_strings *strings = member;

	(void)field;
	(void)node;
	strings->items = arena_alloc(load->arena, sizeof(*strings->items));
	return true;
}

static bool strings_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_strings *strings = member;
	struct conf_field item = *field; /* so that messages ask for a text, not for a list */
	bool fine = true;
	const char **items;

	item.kind = &conf_string;
	if (field_is_nothing(node))
		return strings_absent(load, field, node, member);
	if (node->type != CONF_SEQUENCE)
		/* Without the text: arguments may hold passwords. */
		return conf_error(load, node, "'%s' is a list, such as [a, b]", field->key);
	items = arena_alloc(load->arena, (node->count + 1) * sizeof(*items));
	for (size_t i = 0; i < node->count; i++) {
		struct conf_text text = {.text = ""};

		fine = field_scalar(load, &item, node->items[i], &text) && fine;
		items[i] = text.text;
	}
	strings->items = items;
	strings->count = node->count;
	return fine;
}

static void strings_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct conf_strings *strings = member;

	(void)fputc('[', stream);
	for (size_t i = 0; i < strings->count; i++) {
		(void)fputs(i == 0 ? "" : ", ", stream);
		field_print_string(field, strings->items[i], stream);
	}
	(void)fputc(']', stream);
}

static bool strings_equal(const struct conf_field *field, const void *a, const void *b)
{
	const struct conf_strings *left = a, *right = b;

	(void)field;
	if (left->count != right->count)
		return false;
	for (size_t i = 0; i < left->count; i++) {
		if (strcmp(left->items[i], right->items[i]) != 0)
			return false;
	}
	return true;
}

static json_t *strings_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:s, s:o}", "type", "array", "items", field_text_schema());
}

const struct conf_kind conf_list_of_strings = {
	.name = "a list of texts",
	.size = sizeof(struct conf_strings),
	.parse = strings_parse,
	.print = strings_print,
	.equal = strings_equal,
	.schema = strings_schema,
	.absent = strings_absent,
};
