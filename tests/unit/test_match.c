// SPDX-License-Identifier: MIT
/* Patterns: what matches, bad bytes, long texts, messages at load. */
#include "match_bench.h"

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
		{"(?i)KELVIN",
			"-- \xE2\x84\xAA"
			"elvin",
			MATCH_YES},
		{"(?i)s$", "x\xC5\xBF", MATCH_YES},
		{"(?i)\xC3\xA9t\xC3\xA9", "un \xC3\x89T\xC3\x89", MATCH_YES},
		{"(?i)ready", "-- rEaDY --", MATCH_YES},
		{"(?i)ready", "-- rEaD --", MATCH_NO},
		{"x?(?<=y)", "--y", MATCH_YES},
		{"(?=b)b|c", "aac", MATCH_YES},
		{"(?!a)[ab]c", "ac bc", MATCH_YES},
		{"(?:a|b|\xC3\xA9)+!", "--\xC3\xA9!", MATCH_YES},
		{"a(?C1)b", "ab", MATCH_YES},
		{"a\\Kb", "ab", MATCH_YES},
		{"^(a(?1)?b)$", "aaabbb", MATCH_YES},
		{"^(a(?1)?b)$", "aaabb", MATCH_NO},
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		/* Compiled, then interpreted. */
		no_jit = i % 2 == 1;
		if (match(cases[i / 2].pattern, cases[i / 2].text) != cases[i / 2].result)
			fail_msg("/%s/ on '%s'", cases[i / 2].pattern, cases[i / 2].text);
	}
	no_jit = false;
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
	assert_int_equal(match_bytes(compile("^a\\x00e"), "a\0end", 5, &error), MATCH_YES);
	assert_int_equal(match_bytes(compile("^a\\x00e"), "a end", 5, &error), MATCH_NO);
	assert_int_equal(match_bytes(compile("^.{2}$"), "\0\0", 2, &error), MATCH_YES);
	/* Bad bytes before and behind it. */
	assert_int_equal(match_bytes(compile("^.\\x00.$"), "\xff\0\xff", 3, &error), MATCH_YES);
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

/* CR LF is one end of a line wherever a round ends: no empty line lies inside it. */
static void no_line_is_seen_inside_a_line_end(void **state)
{
	char text[1100];
	const char *error = NULL;

	(void)state;
	memset(text, 'a', sizeof(text));
	for (size_t pad = 1; pad < 1080; pad++) {
		no_jit = pad % 2 == 1;
		memcpy(text + pad, "\r\nb\r\n\r\n", 7);
		assert_int_equal(match_bytes(compile("^$"), text, pad + 3, &error), MATCH_NO);
		assert_int_equal(match_bytes(compile("^$"), text, pad + 7, &error), MATCH_YES);
		assert_int_equal(match_bytes(compile("^b$"), text, pad + 7, &error), MATCH_YES);
		memset(text + pad, 'a', 7);
	}
	no_jit = false;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_match_as_written),
		cmocka_unit_test(a_match_says_how_far_it_goes),
		cmocka_unit_test(bytes_after_a_nul_count),
		cmocka_unit_test(a_bad_pattern_says_where),
		cmocka_unit_test(long_texts_are_searched_to_the_end),
		cmocka_unit_test(no_line_is_seen_inside_a_line_end),
		cmocka_unit_test(kinds_compare_and_print),
	};

	return cmocka_run_group_tests(tests, make_arena, destroy_arena);
}
