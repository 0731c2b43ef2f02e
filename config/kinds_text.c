// SPDX-License-Identifier: MIT
/* Kinds of text: strings, paths, choices, modes, lists of strings. */
#include <string.h>

#include "config/field_private.h"
#include "config/suggest.h"

static bool equal_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static json_t *type_schema(const char *type)
{
	return json_pack("{s:s}", "type", type);
}

static bool string_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_text text;

	if (!field_scalar(load, field, node, &text))
		return false;
	*(const char **)member = text.text;
	return true;
}

static void string_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const char *text = *(const char *const *)member;

	(void)field;
	if (text == NULL)
		(void)fputs("null", stream);
	else
		field_print_text(text, stream);
}

static bool string_equal(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	return equal_text(*(const char *const *)a, *(const char *const *)b);
}

/* Scalars that YAML would take for something else are strings where a string is wanted. */
static json_t *string_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:[s, s, s]}", "type", "string", "number", "boolean");
}

const struct conf_kind conf_string = {
	.name = "a text",
	.size = sizeof(const char *),
	.parse = string_parse,
	.print = string_print,
	.equal = string_equal,
	.schema = string_schema,
};

static bool path_is_fine(const char *path)
{
	if (*path != '/')
		return false;
	for (const char *part = path; part != NULL; part = strchr(part + 1, '/')) {
		size_t span = strcspn(part + 1, "/");

		if ((span == 1 && part[1] == '.') ||
			(span == 2 && part[1] == '.' && part[2] == '.'))
			return false;
	}
	return true;
}

static bool path_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_text text;

	if (!field_scalar(load, field, node, &text))
		return false;
	if (!path_is_fine(text.text))
		return conf_error(load, node,
			"'%s' is no absolute path; begin it with '/' and leave out '.' and '..'",
			text.shown);
	*(const char **)member = text.text;
	return true;
}

static json_t *path_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:s, s:s}", "type", "string", "pattern", "^(/|[$])");
}

const struct conf_kind conf_path = {
	.name = "an absolute path",
	.size = sizeof(const char *),
	.parse = path_parse,
	.print = string_print,
	.equal = string_equal,
	.schema = path_schema,
};

static bool bool_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_text text;

	if (!field_scalar(load, field, node, &text))
		return false;
	if (strcmp(text.text, "true") != 0 && strcmp(text.text, "false") != 0)
		return conf_error(load, node, "'%s' is neither true nor false", text.shown);
	*(bool *)member = *text.text == 't';
	return true;
}

static void bool_print(const struct conf_field *field, const void *member, FILE *stream)
{
	(void)field;
	(void)fputs(*(const bool *)member ? "true" : "false", stream);
}

static bool bool_equal(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	return *(const bool *)a == *(const bool *)b;
}

static json_t *bool_schema(const struct conf_field *field)
{
	(void)field;
	return type_schema("boolean");
}

const struct conf_kind conf_bool = {
	.name = "true or false",
	.size = sizeof(bool),
	.parse = bool_parse,
	.print = bool_print,
	.equal = bool_equal,
	.schema = bool_schema,
};

static const char *list_choices(struct conf_load *load, const struct conf_field *field)
{
	const char *list = "";

	for (size_t i = 0; field->choices[i] != NULL; i++) {
		const char *joint = i == 0 ? "" : field->choices[i + 1] == NULL ? " or " : ", ";

		list = arena_printf(load->arena, "%s%s%s", list, joint, field->choices[i]);
	}
	return list;
}

static bool choice_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_text text;
	struct suggest suggest;

	if (!field_scalar(load, field, node, &text))
		return false;
	suggest_init(&suggest, text.text);
	for (size_t i = 0; field->choices[i] != NULL; i++) {
		suggest_try(&suggest, field->choices[i]);
		if (strcmp(field->choices[i], text.text) == 0) {
			*(int *)member = (int)i;
			return true;
		}
	}
	if (suggest_result(&suggest) != NULL)
		return conf_error(load, node, "'%s' is not one of %s; did you mean '%s'?",
			text.shown, list_choices(load, field), suggest_result(&suggest));
	return conf_error(
		load, node, "'%s' is not one of %s", text.shown, list_choices(load, field));
}

static void choice_print(const struct conf_field *field, const void *member, FILE *stream)
{
	(void)fputs(field->choices[*(const int *)member], stream);
}

static bool choice_equal(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	return *(const int *)a == *(const int *)b;
}

static json_t *choice_schema(const struct conf_field *field)
{
	json_t *choices = json_array();

	for (size_t i = 0; field->choices[i] != NULL; i++)
		(void)json_array_append_new(choices, json_string(field->choices[i]));
	return json_pack("{s:o}", "enum", choices);
}

const struct conf_kind conf_choice = {
	.name = "one of a few words",
	.size = sizeof(int),
	.parse = choice_parse,
	.print = choice_print,
	.equal = choice_equal,
	.schema = choice_schema,
};

static bool strings_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_strings *strings = member;
	const char **items;

	if (node->type != CONF_SEQUENCE)
		return conf_error(load, node, "a list is wanted here, such as [a, b]");
	items = arena_alloc(load->arena, (node->count + 1) * sizeof(*items));
	for (size_t i = 0; i < node->count; i++) {
		struct conf_text text;

		if (!field_scalar(load, field, node->items[i], &text))
			return false;
		items[i] = text.text;
	}
	strings->items = items;
	strings->count = node->count;
	return true;
}

static bool strings_absent(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_strings *strings = member;

	(void)field;
	(void)node;
	strings->items = arena_alloc(load->arena, sizeof(*strings->items));
	return true;
}

static void strings_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct conf_strings *strings = member;

	(void)field;
	(void)fputc('[', stream);
	for (size_t i = 0; i < strings->count; i++) {
		(void)fputs(i == 0 ? "" : ", ", stream);
		field_print_text(strings->items[i], stream);
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
	return json_pack("{s:s, s:o}", "type", "array", "items", string_schema(field));
}

const struct conf_kind conf_list_of_strings = {
	.name = "a text",
	.size = sizeof(struct conf_strings),
	.parse = strings_parse,
	.print = strings_print,
	.equal = strings_equal,
	.schema = strings_schema,
	.absent = strings_absent,
};
