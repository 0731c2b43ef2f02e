// SPDX-License-Identifier: MIT
/* Kinds of text: strings, paths, choices. */
#include <string.h>

#include "config/field_private.h"
#include "config/suggest.h"

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

	if (text != NULL)
		field_print_string(field, text, stream);
}

static bool string_equal(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	return field_same_text(*(const char *const *)a, *(const char *const *)b);
}

static json_t *string_schema(const struct conf_field *field)
{
	(void)field;
	return field_text_schema();
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
			"'%s': '%s' is not an absolute path; start it with '/', without '.' and "
			"'..' parts",
			field->key, text.shown);
	*(const char **)member = text.text;
	return true;
}

static json_t *path_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:s, s:s}", "type", "string", "pattern", "^(/|\\$\\{)");
}

const struct conf_kind conf_path = {
	.name = "an absolute path",
	.size = sizeof(const char *),
	.parse = path_parse,
	.print = string_print,
	.equal = string_equal,
	.schema = path_schema,
};

static const char *choice_at(const void *choices, size_t index)
{
	return ((const char *const *)choices)[index];
}

static bool refuse_choice(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, const struct conf_text *text)
{
	const char *list = field_join(load, field->choices, choice_at);
	struct suggest suggest;
	const char *nearest;

	suggest_init(&suggest, text->text);
	for (size_t i = 0; field->choices[i] != NULL; i++)
		suggest_try(&suggest, field->choices[i]);
	nearest = suggest_result(&suggest);
	if (nearest == NULL)
		return conf_error(
			load, node, "'%s': '%s' is not one of %s", field->key, text->shown, list);
	return conf_error(load, node, "'%s': '%s' is not one of %s; did you mean '%s'?", field->key,
		text->shown, list, nearest);
}

static bool choice_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_text text;

	if (!field_scalar(load, field, node, &text))
		return false;
	for (size_t i = 0; field->choices[i] != NULL; i++) {
		if (strcmp(field->choices[i], text.text) == 0) {
			*(int *)member = (int)i;
			return true;
		}
	}
	return refuse_choice(load, field, node, &text);
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
	json_t *words = json_array();

	for (size_t i = 0; field->choices[i] != NULL; i++) {
		json_t *number = json_loads(field->choices[i], JSON_DECODE_ANY, NULL);

		(void)json_array_append_new(words, json_string(field->choices[i]));
		/* Without quotes YAML readers see a number. */
		if (json_is_number(number))
			(void)json_array_append(words, number);
		json_decref(number);
	}
	return field_or_variable(json_pack("{s:o}", "enum", words));
}

const struct conf_kind conf_choice = {
	.name = "one of a few words",
	.title = "one of",
	.size = sizeof(int),
	.parse = choice_parse,
	.print = choice_print,
	.equal = choice_equal,
	.schema = choice_schema,
};
