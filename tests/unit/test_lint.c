// SPDX-License-Identifier: MIT
/* The lint of tables finds each kind of mistake in a row. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "config/lint.h"

struct inner {
	unsigned int a;
};

struct outer {
	const char *text;
	unsigned int a, b;
	int choice;
	struct inner map;
	struct conf_choice_of what;
};

static const char *const choices[] = {"x", NULL};
static const struct conf_field inner_good[] = {
	CONF_COUNT(struct inner, a, .help = "A"),
	{0},
};
static const struct conf_field inner_bad[] = {
	CONF_COUNT(struct inner, a, .help = ""),
	{0},
};
static const struct conf_variant good_variant = {
	.name = "poke", .summary = "Pokes", .fields = inner_good, .size = sizeof(struct inner)};
static const struct conf_variant bad_variant = {.name = "a", .fields = inner_bad, .size = 2};
static const struct conf_variant *const good_variants[] = {&good_variant, NULL};
static const struct conf_variant *const bad_variants[] = {&bad_variant, NULL};

/* Lints these rows; the complaints must hold these words, as many as there are. */
static void expect(const struct conf_field *fields, size_t size, const char *const *words)
{
	char *text = NULL;
	size_t length = 0, count, wanted = 0;
	FILE *stream = open_memstream(&text, &length);

	assert_non_null(stream);
	count = lint_table("t", fields, size, stream);
	assert_int_equal(fclose(stream), 0);
	for (; words[wanted] != NULL; wanted++) {
		if (strstr(text, words[wanted]) == NULL)
			print_message("%s\n%s", words[wanted], text);
		assert_non_null(strstr(text, words[wanted]));
	}
	if (count != wanted)
		print_message("%s", text);
	assert_int_equal(count, wanted);
	free(text);
}

#define EXPECT(rows, size, ...) expect(rows, size, (const char *const[]){__VA_ARGS__})

static void test_a_good_table(void **state)
{
	static const struct conf_field rows[] = {
		CONF_STRING(struct outer, text, .flags = CONF_REQUIRED, .help = "Text"),
		CONF_COUNT(struct outer, a, .fallback = "2", .min = 1, .max = 2, .help = "A"),
		CONF_COUNT(struct outer, b, .help = "B"),
		CONF_CHOICE(struct outer, choice, .choices = choices, .fallback = "x", .help = "C"),
		CONF_MAP(struct outer, map, inner, inner_good, .shorthand = "a", .help = "Map"),
		CONF_ONEOF(struct outer, what, .variants = good_variants, .help = "What"),
		{0},
	};

	(void)state;
	EXPECT(rows, sizeof(struct outer), NULL);
	EXPECT(rows, 0, NULL);
}

static void test_words(void **state)
{
	static const struct conf_field rows[] = {
		{.key = "retry-count",
			.kind = &conf_count,
			.offset = offsetof(struct outer, a),
			.help = "Count"},
		CONF_STRING(struct outer, text, .help = "Ends with a stop."),
		{.key = "text",
			.kind = &conf_count,
			.offset = offsetof(struct outer, b),
			.help = "Twice"},
		CONF_CHOICE(struct outer, choice, .choices = choices),
		{0},
	};

	(void)state;
	EXPECT(rows, 0, "t: retry-count: is not snake_case", "t: text: its help ends with a stop",
		"t: text: stands in the table twice", "t: choice: has no help", NULL);
}

static void test_places(void **state)
{
	static const struct conf_field rows[] = {
		CONF_COUNT(struct outer, a, .help = "A"),
		{.key = "twin",
			.kind = &conf_count,
			.offset = offsetof(struct outer, a),
			.help = "The same member"},
		{.key = "map",
			.kind = &conf_map,
			.fields = inner_good,
			.offset = offsetof(struct outer, map),
			.help = "No size"},
		{0},
	};

	(void)state;
	EXPECT(rows, offsetof(struct outer, a) + 2, "t: a: reaches past the struct",
		"t: twin: reaches past the struct", "t: twin: overlaps 'a'", "t: map: has no size",
		"t: map: reaches past the struct", NULL);
}

static void test_defaults(void **state)
{
	static const struct conf_field rows[] = {
		CONF_COUNT(struct outer, a, .fallback = "x", .help = "No count"),
		CONF_COUNT(
			struct outer, b, .fallback = "9", .min = 1, .max = 3, .help = "Too many"),
		CONF_STRING(
			struct outer, text, .fallback = "x", .flags = CONF_REQUIRED, .help = "T"),
		{0},
	};

	(void)state;
	EXPECT(rows, 0, "t: a: its default does not load: 'a': 'x' is not a whole number",
		"t: b: its default does not load: 'b' must be from 1 to 3",
		"t: text: is required and has a default", NULL);
}

static json_t *no_schema(const struct conf_field *field)
{
	(void)field;
	return NULL;
}

static bool never_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	(void)field;
	(void)member;
	return conf_error(load, node, "never");
}

static void print_nothing(const struct conf_field *field, const void *member, FILE *stream)
{
	(void)field;
	(void)member;
	(void)stream;
}

static bool never_equal(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	return a == b;
}

static void test_kinds(void **state)
{
	static const struct conf_kind half = {.name = "half", .size = 4, .parse = never_parse};
	static const struct conf_kind mute = {.name = "mute",
		.size = 4,
		.parse = never_parse,
		.print = print_nothing,
		.equal = never_equal,
		.schema = no_schema};
	static const struct conf_field rows[] = {
		{.key = "half", .kind = &half, .help = "Half", .offset = offsetof(struct outer, a)},
		{.key = "mute", .kind = &mute, .help = "Mute", .offset = offsetof(struct outer, b)},
		CONF_STRING(struct outer, text, .choices = choices, .help = "No choice"),
		{.key = "limits",
			.kind = &conf_count,
			.offset = offsetof(struct outer, choice),
			.min = 3,
			.max = 2,
			.help = "No room"},
		{0},
	};

	(void)state;
	EXPECT(rows, 0, "t: half: its kind lacks something", "t: mute: its kind prints no schema",
		"t: text: choices and the choice kind go together",
		"t: limits: its limits leave nothing", NULL);
}

static void test_what_lies_below(void **state)
{
	static const struct conf_field rows[] = {
		CONF_COUNT(struct outer, a, .help = "A"),
		CONF_MAP(struct outer, map, inner, inner_bad, .shorthand = "b", .help = "Map"),
		CONF_ONEOF(struct outer, what, .variants = bad_variants, .help = "What"),
		{0},
	};

	(void)state;
	EXPECT(rows, 0, "t: map: its short form fills a key that is not there",
		"t.map: a: has no help", "t: a: has no summary", "t: a: is a variant and a key",
		"a: a: has no help", "a: a: reaches past the struct", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_good_table),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_what_lies_below),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
