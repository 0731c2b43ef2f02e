// SPDX-License-Identifier: MIT
/* Patterns: what matches, bad bytes, limits on effort, messages at load. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/arena.h"
#include "probes/match.h"

/* The walker's part, as far as a kind needs it. */

static char problem[512];

bool field_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct conf_text *ret_text)
{
	(void)load;
	(void)field;
	*ret_text = (struct conf_text){.text = node->text, .shown = node->text};
	return true;
}

bool conf_error(struct conf_load *load, const struct conf_node *node, const char *format, ...)
{
	va_list arguments;

	(void)load;
	(void)node;
	va_start(arguments, format);
	(void)vsnprintf(problem, sizeof(problem), format, arguments);
	va_end(arguments);
	return false;
}

static struct conf_load load;
static const struct conf_field row = {.key = "expect"};

static const struct match *compile(const char *pattern)
{
	struct conf_node node = {.type = CONF_SCALAR, .text = pattern, .length = strlen(pattern)};
	const struct match *match = NULL;

	problem[0] = '\0';
	return match_pattern.parse(&load, &row, &node, &match) ? match : NULL;
}

static enum match_result match(const char *pattern, const char *text)
{
	const char *error = NULL;
	const struct match *compiled = compile(pattern);

	assert_non_null(compiled);
	return match_bytes(compiled, text, strlen(text), &error);
}

static void patterns_match_as_written(void **state)
{
	static const struct {
		const char *pattern, *text;
		enum match_result result;
	} cases[] = {
		{"^220 .*ESMTP", "220 mx ESMTP\r\n", MATCH_YES},
		{"^220 .*ESMTP", "x220 mx ESMTP\r\n", MATCH_NO},
		{"^ready$", "first\r\nready\r\nlast", MATCH_YES},
		{"^ready$", "first\nready\nlast", MATCH_YES},
		{"^ready$", "already", MATCH_NO},
		{"ready\\z", "not ready\n", MATCH_NO},
		{"^$", "", MATCH_YES},
		{"x?", "", MATCH_YES},
		{"a", "", MATCH_NO},
		{"\xC3\xA9t\xC3\xA9", "\xC3\xA9t\xC3\xA9", MATCH_YES},
		{"^.$", "\xC3\xA9", MATCH_YES},
		/* Bad bytes count as U+FFFD each: cut short, overlong, a surrogate, past the end.
		 */
		{"^a.b$",
			"a\xE4"
			"b",
			MATCH_YES},
		{"^a\\x{FFFD}b$",
			"a\xFF"
			"b",
			MATCH_YES},
		{"^\\x{FFFD}{2}$", "\xC0\x80", MATCH_YES},
		{"^\\x{FFFD}{3}$", "\xED\xA0\x80", MATCH_YES},
		{"^\\x{FFFD}{4}$", "\xF4\x90\x80\x80", MATCH_YES},
		{"^\\x{FFFD}{2}$", "\xE2\x82", MATCH_YES},
		{"^\xE2\x82\xAC\\x{FFFD}$", "\xE2\x82\xAC\xE2", MATCH_YES},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (match(cases[i].pattern, cases[i].text) != cases[i].result)
			fail_msg("/%s/ on '%s'", cases[i].pattern, cases[i].text);
	}
	assert_null(compile("\xC3"));
}

static void a_match_says_how_far_it_goes(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool unfinished;
		enum match_result result;
		size_t end;
	} cases[] = {
		{"^220 .*$", "220 mx\r\n250", true, MATCH_YES, 6},
		{"^OK$", "OK", true, MATCH_NO, 0},
		{"^OK$", "OK", false, MATCH_YES, 2},
		{"^OK$", "OK\n", true, MATCH_YES, 2},
		{"OK", "OK", true, MATCH_YES, 2},
		{"b",
			"\xFF\xC3\xA9\xE4"
			"bc",
			true, MATCH_YES, 5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct match_subject subject = {
			cases[i].text, strlen(cases[i].text), cases[i].unfinished};
		const char *error = NULL;
		size_t end = 0;

		if (match_find(compile(cases[i].pattern), &subject, &end, &error) !=
				cases[i].result ||
			end != cases[i].end)
			fail_msg("/%s/ on '%s': %zu", cases[i].pattern, cases[i].text, end);
	}
}

static void bytes_after_a_nul_count(void **state)
{
	const char *error = NULL;

	(void)state;
	assert_int_equal(match_bytes(compile("end"), "a\0end", 5, &error), MATCH_YES);
	assert_int_equal(match_bytes(compile("end"), NULL, 0, &error), MATCH_NO);
}

static void a_bad_pattern_says_where(void **state)
{
	(void)state;
	assert_null(compile("^220 (abc"));
	assert_string_equal(problem,
		"'expect' is not a valid pattern: missing closing parenthesis, at byte 10 of "
		"'^220 (abc'");
	assert_null(compile("a[z-b]"));
	assert_string_equal(problem,
		"'expect' is not a valid pattern: range out of order in character class, at byte 5 "
		"of 'a[z-b]'");
	assert_null(compile(""));
	assert_string_equal(problem, "'expect' needs a pattern that is not empty");
}

static double cpu(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* Text of n bytes made by repeating a word. */
static char *repeat(const char *word, size_t n)
{
	char *text = malloc(n);

	for (size_t i = 0; i < n; i++)
		text[i] = word[i % strlen(word)];
	return text;
}

/* Patterns that would take hours, or gigabytes: an error in bounded time, never "no match". */
static void costly_patterns_end_in_an_error(void **state)
{
	static const struct {
		const char *pattern, *word;
		size_t length;
	} cases[] = {
		{"^(a+)+[xz]", "a", 100},
		{"(a|aa)+[xz]", "a", 1 << 20},
		{"(?:a|b)*[xz]", "a", 1 << 20},
		{"a.*[bc]", "a", 1 << 20},
		{"a\\w*\\d", "a", 1 << 20},
		{"\\A.*.*.*[bc]", "a", 1 << 20},
		{"(.|\\n)*[xz]", "hello world\n", 1 << 20},
		{"(*NO_JIT)a.*[bc]", "a", 100 * 1000},
		{"(*NO_JIT)(a+)+[xz]", "a", 1000},
	};
	const char *error;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = repeat(cases[i].word, cases[i].length);
		double start = cpu();

		error = NULL;
		if (match_bytes(compile(cases[i].pattern), text, cases[i].length, &error) !=
			MATCH_ERROR)
			fail_msg("/%s/ was decided", cases[i].pattern);
		assert_non_null(error);
		/* Twenty times what was measured: sanitizers and valgrind are slow. */
		if (cpu() - start > 10)
			fail_msg("/%s/ took %.1f s", cases[i].pattern, cpu() - start);
		free(text);
	}
}

/* Rounds must not lose a place: the match at the very end, and on each side of a round's edge. */
static void long_texts_are_searched_to_the_end(void **state)
{
	const size_t length = 1 << 20;
	char *text = repeat("hello world ", length);
	const char *error = NULL;
	const size_t places[] = {0, 254, 255, 256, 257, 767, 768, 769, 100000, length - 5};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char kept[5];

		memcpy(kept, text + places[i], 5);
		memcpy(text + places[i], "READY", 5);
		assert_int_equal(match_bytes(compile("READY"), text, length, &error), MATCH_YES);
		memcpy(text + places[i], kept, 5);
	}
	/* The last places of texts that end near the edge of a round. */
	for (size_t end = 250; end < 780; end = end == 260 ? 760 : end + 1) {
		assert_int_equal(match_bytes(compile("\\z"), text, end, &error), MATCH_YES);
		text[end - 1] = 'E';
		assert_int_equal(match_bytes(compile("E"), text, end, &error), MATCH_YES);
		text[end - 1] = 'e';
	}
	assert_int_equal(match_bytes(compile("READY"), text, length, &error), MATCH_NO);
	assert_int_equal(match_bytes(compile("(*NO_JIT)READY"), text, length, &error), MATCH_NO);
	assert_int_equal(match_bytes(compile("\\z"), text, length, &error), MATCH_YES);
	free(text);
	/* A round's edge inside a code point. */
	text = repeat("\xE2\x82\xAC", 3000);
	assert_int_equal(match_bytes(compile("x"), text, 3000, &error), MATCH_NO);
	memcpy(text + 2997, "xyz", 3);
	assert_int_equal(
		match_bytes(compile("^\xE2\x82\xAC{999}xyz$"), text, 3000, &error), MATCH_YES);
	assert_int_equal(match_bytes(compile("xyz$"), text, 3000, &error), MATCH_YES);
	free(text);
}

/* Compiled code has 32 KiB for backtracking; what needs more is interpreted, not given up. */
static void deep_patterns_are_interpreted(void **state)
{
	char *text = repeat("ab\n", 20000);
	const char *error = NULL;

	(void)state;
	memcpy(text + 20000 - 3, "END", 3);
	assert_int_equal(
		match_bytes(compile("\\A(?:a|b|\\n)*END"), text, 20000, &error), MATCH_YES);
	free(text);
}

static void kinds_compare_and_print(void **state)
{
	const struct match *one = compile("a\"b"), *same = compile("a\"b"), *other = compile("c");
	const struct match *none = NULL;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	json_t *schema = match_pattern.schema(&row);

	(void)state;
	assert_true(match_pattern.equal(&row, &one, &same));
	assert_false(match_pattern.equal(&row, &one, &other));
	assert_false(match_pattern.equal(&row, &one, &none));
	assert_true(match_pattern.equal(&row, &none, &none));
	assert_string_equal(match_text(one), "a\"b");
	match_pattern.print(&row, &one, stream);
	match_pattern.print(&row, &none, stream);
	(void)fclose(stream);
	assert_string_equal(text, "\"a\\\"b\"null");
	free(text);
	assert_non_null(schema);
	json_decref(schema);
}

static int make_arena(void **state)
{
	(void)state;
	load.arena = arena_create();
	return 0;
}

static int destroy_arena(void **state)
{
	(void)state;
	arena_destroy(load.arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_match_as_written),
		cmocka_unit_test(a_match_says_how_far_it_goes),
		cmocka_unit_test(bytes_after_a_nul_count),
		cmocka_unit_test(a_bad_pattern_says_where),
		cmocka_unit_test(costly_patterns_end_in_an_error),
		cmocka_unit_test(long_texts_are_searched_to_the_end),
		cmocka_unit_test(deep_patterns_are_interpreted),
		cmocka_unit_test(kinds_compare_and_print),
	};

	return cmocka_run_group_tests(tests, make_arena, destroy_arena);
}
