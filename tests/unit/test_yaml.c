// SPDX-License-Identifier: MIT
/* YAML as a tree: places, merges, budgets, and what is refused. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml.h"

struct parsed {
	struct arena *arena;
	struct conf_diag *diag;
	struct conf_node *root;
};

static struct parsed parse(const char *text, size_t length)
{
	struct parsed parsed = {.arena = arena_create(), .diag = diag_create()};

	parsed.root = node_parse(parsed.arena, "t.yaml", text, length, parsed.diag);
	return parsed;
}

static void finish(struct parsed *parsed)
{
	diag_destroy(parsed->diag);
	arena_destroy(parsed->arena);
}

static void assert_at(const struct conf_node *node, unsigned int line, unsigned int column)
{
	assert_non_null(node);
	assert_string_equal(node->mark.file, "t.yaml");
	assert_int_equal(node->mark.line, line);
	assert_int_equal(node->mark.column, column);
}

static void assert_text(const struct conf_node *map, const char *key, const char *text)
{
	const struct conf_node *value = node_get(map, key);

	assert_non_null(value);
	assert_int_equal(value->type, CONF_SCALAR);
	assert_string_equal(value->text, text);
	assert_int_equal(value->length, strlen(text));
}

static void test_everything_knows_where_it_stood(void **state)
{
	static const char text[] = "# comment\na: 1\nb:\n  - x\n  - {c: 'y'}\n";
	struct parsed parsed = parse(text, strlen(text));
	struct conf_node *list = node_get(parsed.root, "b");

	(void)state;
	assert_at(parsed.root, 2, 1);
	assert_at(parsed.root->entries[1].key, 3, 1);
	assert_at(node_get(parsed.root, "a"), 2, 4);
	assert_at(list, 4, 3);
	assert_int_equal(list->count, 2);
	assert_at(list->items[1], 5, 5);
	assert_at(node_get(list->items[1], "c"), 5, 9);
	assert_int_equal(node_mark(parsed.root, "a").column, 4);
	assert_int_equal(node_mark(parsed.root, "absent").line, 2);
	assert_null(node_get(list, "a"));
	assert_null(node_get(NULL, "a"));
	finish(&parsed);
}

static void test_plain_and_quoted_are_told_apart(void **state)
{
	static const char text[] = "a: ~\nb: '~'\nc:\nd: \"\"\ne: !!str ~\nf: |\n  x\n";
	struct parsed parsed = parse(text, strlen(text));

	(void)state;
	assert_true(node_get(parsed.root, "a")->plain);
	assert_false(node_get(parsed.root, "b")->plain);
	assert_true(node_get(parsed.root, "c")->plain);
	assert_false(node_get(parsed.root, "d")->plain);
	assert_false(node_get(parsed.root, "e")->plain);
	assert_false(node_get(parsed.root, "f")->plain);
	assert_text(parsed.root, "f", "x\n");
	finish(&parsed);
}

static void test_a_merge_yields_to_what_is_written(void **state)
{
	static const char text[] = "base: &base {x: 1, y: 2, z: 3}\n"
				   "more: &more {y: 20, w: 40}\n"
				   "one:\n  <<: *base\n  y: 9\n"
				   "two:\n  y: 9\n  <<: [*more, *base]\n"
				   "lit: {'<<': *base}\n"
				   "tri: &tri {<<: *base, t: 1}\n"
				   "top: {<<: *tri}\n";
	struct parsed parsed = parse(text, strlen(text));
	const struct conf_node *one = node_get(parsed.root, "one");
	const struct conf_node *two = node_get(parsed.root, "two");

	(void)state;
	assert_int_equal(diag_errors(parsed.diag), 0);
	assert_int_equal(one->count, 3);
	assert_text(one, "x", "1");
	assert_text(one, "y", "9");
	/* In the order of the file, where `<<` stands. */
	assert_string_equal(one->entries[0].key->text, "x");
	assert_true(one->entries[0].merged);
	assert_string_equal(one->entries[2].key->text, "y");
	assert_false(one->entries[2].merged);
	assert_int_equal(two->count, 4);
	assert_text(two, "y", "9");
	assert_text(two, "w", "40");
	assert_text(two, "x", "1");
	assert_int_equal(node_get(parsed.root, "lit")->count, 1);
	assert_text(node_get(parsed.root, "top"), "z", "3");
	assert_text(node_get(parsed.root, "top"), "t", "1");
	finish(&parsed);
}

static void test_the_first_of_several_maps_wins(void **state)
{
	static const char text[] = "a: &a {k: 1}\nb: &b {k: 2}\nc: {<<: [*b, *a]}\n";
	struct parsed parsed = parse(text, strlen(text));

	(void)state;
	assert_text(node_get(parsed.root, "c"), "k", "2");
	finish(&parsed);
}

static void test_an_alias_is_marked_where_it_is_used(void **state)
{
	static const char text[] = "a: &x [1]\nb: *x\nc: &x 2\nd: *x\n";
	struct parsed parsed = parse(text, strlen(text));

	(void)state;
	assert_at(node_get(parsed.root, "b"), 2, 4);
	assert_at(node_get(parsed.root, "b")->items[0], 1, 8);
	assert_text(parsed.root, "d", "2");
	finish(&parsed);
}

static void test_nothing_is_an_empty_map(void **state)
{
	static const char *const texts[] = {
		"", "\n", "# only a comment\n", "---\n", "--- # x\n..."};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct parsed parsed = parse(texts[i], strlen(texts[i]));

		assert_non_null(parsed.root);
		assert_int_equal(parsed.root->type, CONF_MAPPING);
		assert_int_equal(parsed.root->count, 0);
		assert_at(parsed.root, 1, 1);
		finish(&parsed);
	}
}

/* What is refused, where, and whether a tree is left to look for more. */
static const struct {
	const char *text;
	unsigned int line, column;
	const char *part;
	bool tree;
} refused[] = {
	{"a: 1\nb: 2\na: 3\n", 3, 1, "duplicate key 'a'; it stands in line 1 already", true},
	{"x: {a: 1, b: 2, a: 3}", 1, 17, "duplicate key 'a'", true},
	{"b: &b {}\nx:\n  <<: *b\n  <<: *b\n", 4, 3, "duplicate key '<<'", true},
	{"x:\n  <<: 5\n", 2, 7, "'<<' takes a map", true},
	{"x:\n  <<: [{a: 1}, 5]\n", 2, 7, "'<<' takes a map", true},
	{"a: !foo 1\n", 1, 4, "tag '!foo' is not supported", true},
	{"a: !!binary aGk=\n", 1, 4, "is not supported", true},
	{"a: !!map [1]\n", 1, 4, "is not supported", true},
	{"a: 1\n---\nb: 2\n", 2, 1, "a second document", false},
	{"? [a]\n: b\n", 1, 3, "a key must be text", false},
	{"{{a: 1}: 2}\n", 1, 2, "a key must be text", false},
	{"a: &x [1]\n*x : 2\n", 2, 1, "a key must be text", false},
	{"a: *x\n", 1, 4, "alias '*x' has no anchor", false},
	{"a: *x\nb: &x 1\n", 1, 4, "alias '*x' has no anchor", false},
	{"a: &x [1, *x]\n", 1, 11, "inside its own anchor", false},
	{"a: \"x\\0y\"\n", 1, 4, "NUL byte", false},
	{"a:\n\t- b\n", 2, 1, "a tab in the indentation", false},
	{"a:\n  \tb: 1\n", 2, 3, "a tab in the indentation", false},
	{"a: [1, 2\nb: 3\n", 2, 2, "the list is not closed with ']'", false},
	{"a: {b: 1\nc: 3\n", 2, 2, "the map is not closed with '}'", false},
	{"a: b: c\n", 1, 5, "put text that contains ': ' in quotes", false},
	{"a: @b\n", 1, 4, "in quotes", false},
	{"a: %b\n", 1, 4, "in quotes", false},
	{"a: \"b\n", 2, 1, "a quote is not closed", false},
	{"a: \"\\d\"\n", 1, 5, "use single quotes", false},
	{"a: 1\n b: 2\n", 2, 3, "not YAML", false},
	{"a: 1\nb\nc: 2\n", 3, 1, "a key is followed by ': '", false},
	{"\xef\xbb\xbf"
	 "a: 1\n",
		1, 1, "byte order mark", false},
	{"\xff\xfe"
	 "a",
		1, 1, "UTF-16", false},
	{"a: 1\nb: \xc3\xa4\xff\n", 2, 5, "byte 0xFF is not UTF-8", false},
	{"a: \xed\xa0\x80\n", 1, 4, "byte 0xED is not UTF-8", false},
	{"a: \xc0\xaf\n", 1, 4, "byte 0xC0 is not UTF-8", false},
	{"a: \xf4\x90\x80\x80\n", 1, 4, "byte 0xF4 is not UTF-8", false},
	{"a: \xe2\x82", 1, 4, "byte 0xE2 is not UTF-8", false},
	{"a: \x1b[1m\n", 1, 4, "control character U+001B; in double quotes, write it as \\x1B",
		false},
	{"a: x\xef\xbb\xbf\n", 1, 5, "byte order mark inside", false},
};

static void test_what_is_refused_and_where(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct parsed parsed = parse(refused[i].text, strlen(refused[i].text));
		const struct conf_problem *problem = diag_at(parsed.diag, 0);

		if (problem == NULL || strstr(problem->text, refused[i].part) == NULL)
			print_message("%s: %s\n", refused[i].text,
				problem == NULL ? "no problem" : problem->text);
		assert_non_null(problem);
		assert_non_null(strstr(problem->text, refused[i].part));
		assert_int_equal(problem->mark.line, refused[i].line);
		assert_int_equal(problem->mark.column, refused[i].column);
		assert_int_equal(parsed.root != NULL, refused[i].tree);
		assert_int_equal(diag_errors(parsed.diag), 1);
		finish(&parsed);
	}
}

static void test_a_nul_byte_is_no_end(void **state)
{
	struct parsed parsed = parse("a: 1\n\0b: 2\n", 11);

	(void)state;
	assert_null(parsed.root);
	assert_string_equal(diag_at(parsed.diag, 0)->text, "a NUL byte; the file is not text");
	assert_int_equal(diag_at(parsed.diag, 0)->mark.line, 2);
	finish(&parsed);
}

static void test_lines_are_counted_as_editors_do(void **state)
{
	static const char text[] = "a: 1\r\nb: 2\r\nb: 3\r\n";
	static const char bad[] = "a: 1\r\nb: \xff\r\n";
	struct parsed parsed = parse(text, strlen(text));

	(void)state;
	assert_int_equal(diag_at(parsed.diag, 0)->mark.line, 3);
	finish(&parsed);
	parsed = parse(bad, strlen(bad));
	assert_int_equal(diag_at(parsed.diag, 0)->mark.line, 2);
	assert_int_equal(diag_at(parsed.diag, 0)->mark.column, 4);
	finish(&parsed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_knows_where_it_stood),
		cmocka_unit_test(test_plain_and_quoted_are_told_apart),
		cmocka_unit_test(test_a_merge_yields_to_what_is_written),
		cmocka_unit_test(test_the_first_of_several_maps_wins),
		cmocka_unit_test(test_an_alias_is_marked_where_it_is_used),
		cmocka_unit_test(test_nothing_is_an_empty_map),
		cmocka_unit_test(test_what_is_refused_and_where),
		cmocka_unit_test(test_a_nul_byte_is_no_end),
		cmocka_unit_test(test_lines_are_counted_as_editors_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
