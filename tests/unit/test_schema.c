// SPDX-License-Identifier: MIT
/* Rows as JSON Schema: what an editor must know of them. */
#include "unit.h"

#include <string.h>

#include "config/field.h"

struct inner {
	const char *name;
	unsigned int count;
};

struct outer {
	const char *text;
	bool flag;
	unsigned int port;
	double wait;
	int choice;
	struct conf_strings list;
	struct conf_secret password;
	struct conf_pairs env;
	struct inner map;
	struct conf_items items;
	struct conf_choice_of what;
};

static const char *const choices[] = {"a", "b", NULL};

static const struct conf_field inner_fields[] = {
	CONF_STRING(struct inner, name, .flags = CONF_REQUIRED, .help = "Name"),
	CONF_COUNT(struct inner, count, .fallback = "3", .help = "Count"),
	{0},
};

static const struct conf_variant variant = {.name = "poke",
	.summary = "Pokes",
	.fields = inner_fields,
	.size = sizeof(struct inner),
	.shorthand = "name"};
static const struct conf_variant other = {
	.name = "prod", .summary = "Prods", .fields = inner_fields, .size = sizeof(struct inner)};
static const struct conf_variant *const variants[] = {&variant, &other, NULL};

static const struct conf_field fields[] = {
	CONF_STRING(struct outer, text, .help = "Text"),
	CONF_BOOL(struct outer, flag, .fallback = "true", .help = "Flag"),
	CONF_COUNT(struct outer, port, .min = 1, .max = 65535, .help = "Port"),
	CONF_DURATION(struct outer, wait, .fallback = "10s", .help = "Wait"),
	CONF_CHOICE(struct outer, choice, .choices = choices, .help = "Choice"),
	CONF_STRINGS(struct outer, list, .help = "List"),
	CONF_SECRET(struct outer, password, .help = "Password"),
	CONF_SECRETS(struct outer, env, .help = "Environment"),
	CONF_MAP(struct outer, map, inner, inner_fields, .help = "Map"),
	CONF_LIST(struct outer, items, inner, inner_fields, .shorthand = "name", .help = "Items"),
	CONF_ONEOF(struct outer, what, .variants = variants, .flags = CONF_REQUIRED,
		.help = "What is done"),
	{0},
};

/* The value at a JSON path of keys and indices, as text; in the schema's lifetime of one test. */
static const json_t *at(const json_t *json, const char *const *path)
{
	for (; *path != NULL; path++) {
		const json_t *next = json_is_array(json)
			? json_array_get(json, (size_t)(**path - '0'))
			: json_object_get(json, *path);

		if (next == NULL)
			print_message("no %s\n", *path);
		assert_non_null(next);
		json = next;
	}
	return json;
}

#define AT(schema, ...) at(schema, (const char *const[]){__VA_ARGS__, NULL})
#define PROPERTY(schema, ...) AT(schema, "properties", __VA_ARGS__)

static void assert_words(const json_t *array, const char *const *words)
{
	size_t count = 0;

	for (; words[count] != NULL; count++)
		assert_string_equal(json_string_value(json_array_get(array, count)), words[count]);
	assert_int_equal(json_array_size(array), count);
}

static void test_a_schema(void **state)
{
	static const char *const name[] = {"name", NULL};
	static const char *const texts[] = {"string", "number", "boolean", "null", NULL};
	json_t *schema = field_schema(fields);

	(void)state;
	assert_string_equal(json_string_value(AT(schema, "type")), "object");
	assert_true(json_is_false(AT(schema, "additionalProperties")));
	assert_null(json_object_get(schema, "required"));
	assert_string_equal(json_string_value(PROPERTY(schema, "text", "description")), "Text");
	assert_words(PROPERTY(schema, "text", "type"), texts);
	assert_true(json_is_true(PROPERTY(schema, "flag", "default")));
	assert_string_equal(json_string_value(PROPERTY(schema, "wait", "default")), "10s");
	assert_true(json_number_value(PROPERTY(schema, "port", "anyOf", "0", "maximum")) == 65535);
	assert_true(json_number_value(PROPERTY(schema, "port", "anyOf", "0", "minimum")) == 1);
	assert_words(PROPERTY(schema, "choice", "anyOf", "0", "enum"), choices);
	assert_words(PROPERTY(schema, "list", "items", "type"), texts);
	assert_words(PROPERTY(schema, "password", "anyOf", "1", "required"),
		(const char *const[]){"file", NULL});
	assert_true(json_is_object(PROPERTY(schema, "env", "additionalProperties")));
	assert_words(PROPERTY(schema, "map", "anyOf", "0", "required"), name);
	assert_int_equal(json_integer_value(PROPERTY(
				 schema, "map", "anyOf", "0", "properties", "count", "default")),
		3);
	/* A short form is an alternative. */
	assert_words(PROPERTY(schema, "items", "items", "anyOf", "1", "type"), texts);
	assert_words(PROPERTY(schema, "items", "items", "anyOf", "0", "required"), name);
	json_decref(schema);
}

static void test_variants_join_the_outer_map(void **state)
{
	json_t *schema = field_schema(fields);

	(void)state;
	assert_null(json_object_get(json_object_get(schema, "properties"), "what"));
	assert_string_equal(json_string_value(PROPERTY(schema, "poke", "description")), "Pokes");
	assert_true(json_is_array(PROPERTY(schema, "poke", "anyOf")));
	assert_string_equal(json_string_value(PROPERTY(schema, "prod", "type")), "object");
	assert_int_equal(json_array_size(AT(schema, "oneOf")), 2);
	assert_words(AT(schema, "oneOf", "1", "required"), (const char *const[]){"prod", NULL});
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_schema),
		cmocka_unit_test(test_variants_join_the_outer_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
