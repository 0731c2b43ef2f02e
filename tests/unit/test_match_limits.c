// SPDX-License-Identifier: MIT
/* Patterns that cost too much, compiled and interpreted, and an engine that fails. */
#include "match_bench.h"

#include <time.h>

static double cpu(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

#define EFFORT "the pattern takes too much effort on this text"
#define MEMORY "the pattern takes too much memory on this text"
#define FAILED "the pattern engine failed"

/* Patterns that would take hours, or gigabytes: an error in bounded time, never "no match". */
static void costly_patterns_end_in_an_error(void **state)
{
	static const struct {
		const char *pattern, *word;
		size_t length;
		const char *error; /* compiled; NULL where it depends on what is used up first */
	} cases[] = {
		{"^(a+)+[xz]", "a", 100, EFFORT},
		{"(a|aa)+[xz]", "a", 1 << 20, MEMORY},
		{"(?:a|b)*[xz]", "a", 1 << 20, MEMORY},
		{"a.*[bc]", "a", 1 << 20, EFFORT},
		{"a\\w*\\d", "a", 1 << 20, EFFORT},
		{"\\A.*.*.*[bc]", "a", 1 << 20, EFFORT},
		{"(.|\\n)*[xz]", "hello world\n", 1 << 20, MEMORY},
		{"(?:(?=(a+))\\1)+[xz]", "a", 1 << 20, EFFORT},
		{"(?|(a)|(b))*+[cd]", "ab", 1 << 20, NULL},
		{"\\R*[yz]", "\r\n", 1 << 20, EFFORT},
		{"(?R)", "a", 100, FAILED},
		{"(*NO_JIT)a.*[bc]", "a", 100 * 1000, EFFORT},
		{"(*NO_JIT)(a+)+[xz]", "a", 1000, EFFORT},
		{"(*NO_JIT)(.|\\n)*[xz]", "hello world\n", 1 << 20, MEMORY},
		/* Each bad byte is one of the text: nothing is saved on them. */
		{"(*NO_JIT)(?:.+)+[xz]", "\xff", 1000, EFFORT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = repeat(cases[i].word, cases[i].length);
		double start = cpu();
		const char *error = NULL;

		if (match_bytes(compile(cases[i].pattern), text, cases[i].length, &error) !=
			MATCH_ERROR)
			fail_msg("/%s/ was decided", cases[i].pattern);
		assert_non_null(error);
		/* The interpreter may use up the one before the other. */
		if (cases[i].error != NULL && !no_jit)
			assert_string_equal(error, cases[i].error);
		/* Twenty times what was measured: sanitizers and valgrind are slow. */
		if (cpu() - start > 10)
			fail_msg("/%s/ took %.1f s", cases[i].pattern, cpu() - start);
		free(text);
	}
}

static void costly_patterns_without_jit(void **state)
{
	no_jit = true;
	costly_patterns_end_in_an_error(state);
	no_jit = false;
}

/* Nothing before shows what is to come: thousands of cheap places, then dear ones. */
static void a_text_that_becomes_costly_is_noticed(void **state)
{
	static const char *const patterns[] = {
		"\\R*[yz]", "[\n\r]*+[yz]", "(*NO_JIT)[\n\r]*+[yz]", "(?s)\\n.*+z"};
	const size_t length = 1 << 20;
	char *text = repeat("\r\n", length);

	(void)state;
	memset(text, '-', 40000);
	for (size_t i = 0; i < 2 * sizeof(patterns) / sizeof(*patterns); i++) {
		double start = cpu();
		const char *error = NULL;

		no_jit = i % 2 == 1;
		(void)match_bytes(compile(patterns[i / 2]), text, length, &error);
		/* Ten times what was measured; without a limit it took 20 s. */
		if (cpu() - start > 4)
			fail_msg("/%s/ took %.1f s", patterns[i / 2], cpu() - start);
	}
	no_jit = false;
	free(text);
}

/* Whatever number the engine comes back with, only two of them are answers. */
static void no_error_of_the_engine_is_an_answer(void **state)
{
	const struct match *pattern = compile("a");
	const char *error;

	(void)state;
	for (int code = -100; code <= -2; code++) {
		/* What it calls bad UTF-8 is mended, and the mended text is looked at. */
		if (code <= PCRE2_ERROR_UTF8_ERR1 && code >= PCRE2_ERROR_UTF8_ERR21)
			continue;
		engine_says = code;
		error = NULL;
		assert_int_equal(match_bytes(pattern, "b", 1, &error), MATCH_ERROR);
		assert_non_null(error);
	}
	engine_says = PCRE2_ERROR_NOMATCH;
	assert_int_equal(match_bytes(pattern, "a", 1, &error), MATCH_NO);
	engine_says = 1;
	assert_int_equal(match_bytes(pattern, "b", 1, &error), MATCH_YES);
	engine_says = 0;
}

/* A pattern that would blow up when it is compiled is refused. */
static void patterns_that_grow_without_end_are_refused(void **state)
{
	char *deep = repeat("(", 400);

	(void)state;
	assert_null(compile("((a{0,100}){0,100}){0,100}"));
	assert_non_null(strstr(problem, "regular expression is too large"));
	deep[399] = '\0';
	assert_null(compile(deep));
	assert_non_null(strstr(problem, "parentheses are too deeply nested"));
	free(deep);
	/* One byte at a time could stand inside a code point. */
	assert_null(compile("\\C"));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costly_patterns_end_in_an_error),
		cmocka_unit_test(costly_patterns_without_jit),
		cmocka_unit_test(a_text_that_becomes_costly_is_noticed),
		cmocka_unit_test(no_error_of_the_engine_is_an_answer),
		cmocka_unit_test(patterns_that_grow_without_end_are_refused),
		cmocka_unit_test(deep_patterns_are_interpreted),
	};

	return cmocka_run_group_tests(tests, make_arena, destroy_arena);
}
