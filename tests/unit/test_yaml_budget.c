// SPDX-License-Identifier: MIT
/* What is too much of YAML, and that much of it is quick. */
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

/* Parses text, which is freed, and expects this one problem. */
static void expect_refused(char *take_text, const char *part)
{
	struct parsed parsed = parse(take_text, strlen(take_text));

	assert_null(parsed.root);
	assert_int_equal(diag_errors(parsed.diag), 1);
	assert_non_null(strstr(diag_at(parsed.diag, 0)->text, part));
	finish(&parsed);
	free(take_text);
}

/* count pieces, the number of each put into it by format. */
static char *repeat(const char *head, const char *piece, size_t count, const char *tail)
{
	size_t head_length = strlen(head), length = strlen(piece), tail_length = strlen(tail);
	char *text = xcalloc(head_length + count * length + tail_length + 1, 1);

	memcpy(text, head, head_length);
	for (size_t i = 0; i < count; i++)
		memcpy(text + head_length + i * length, piece, length);
	memcpy(text + head_length + count * length, tail, tail_length);
	return text;
}

static void test_budgets(void **state)
{
	(void)state;
	expect_refused(repeat("", "[", 100, ""), "nested more than 32 levels deep");
	expect_refused(repeat("", "- ", 40000, "x"), "nested more than 32 levels deep");
	expect_refused(repeat("a: [", "1,", 500001, "1]"), "more than 500000 values");
	expect_refused(repeat("# ", "x", CONF_MAX_BYTES, ""), "is larger than 1024 KiB");
	/* A quarter of a million nodes behind each of three aliases. */
	expect_refused(repeat("a: &a [", "1,", 250000, "1]\nb: [*a, *a, *a]\n"),
		"aliases stand for more than 500000 values");
}

static void test_aliases_add_depth(void **state)
{
	char text[4096] = "a0: &a0 [x]\n";
	struct parsed parsed;

	(void)state;
	for (int i = 1; i < 60; i++) {
		size_t used = strlen(text);

		(void)snprintf(text + used, sizeof(text) - used, "a%d: &a%d [*a%d]\n", i, i, i - 1);
	}
	parsed = parse(text, strlen(text));
	assert_null(parsed.root);
	assert_non_null(strstr(diag_at(parsed.diag, 0)->text, "nested more than 32 levels"));
	finish(&parsed);
}

static void test_a_bomb_of_aliases(void **state)
{
	char text[2048] = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
	struct parsed parsed;

	(void)state;
	for (char name = 'b'; name <= 'i'; name++) {
		size_t used = strlen(text);
		int before = name - 1;

		(void)snprintf(text + used, sizeof(text) - used,
			"%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", name, name, before,
			before, before, before, before, before, before, before, before, before);
	}
	parsed = parse(text, strlen(text));
	assert_null(parsed.root);
	assert_non_null(strstr(diag_at(parsed.diag, 0)->text, "aliases stand for more than"));
	finish(&parsed);
}

static void test_twins_are_found_in_a_crowd(void **state)
{
	enum {
		COUNT = 40000
	};
	char *text = xcalloc(COUNT + 1, 16);
	size_t used = 0;
	struct parsed parsed;

	(void)state;
	for (int i = 0; i < COUNT; i++)
		used += (size_t)sprintf(text + used, "k%d: 1\n", i);
	(void)sprintf(text + used, "k17: 2\n");
	parsed = parse(text, strlen(text));
	assert_non_null(parsed.root);
	assert_int_equal(parsed.root->count, COUNT);
	assert_int_equal(diag_errors(parsed.diag), 1);
	assert_string_equal(
		diag_at(parsed.diag, 0)->text, "duplicate key 'k17'; it stands in line 18 already");
	assert_string_equal(node_get(parsed.root, "k17")->text, "1");
	finish(&parsed);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_budgets),
		cmocka_unit_test(test_aliases_add_depth),
		cmocka_unit_test(test_a_bomb_of_aliases),
		cmocka_unit_test(test_twins_are_found_in_a_crowd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
