// SPDX-License-Identifier: MIT
/* The configuration of assertions on JSON: mistakes, printing, comparing, secrets. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_bench.h"
#include "probes/match_json.h"

struct row {
	struct conf_items json;
};

static const struct conf_field fields[] = {
	MATCH_JSON(struct row, json, .help = "x"),
	{0},
};

static struct bench bench;

static int open_bench(void **state)
{
	(void)state;
	bench_open(&bench);
	return 0;
}

static int close_bench(void **state)
{
	(void)state;
	bench_close(&bench);
	return 0;
}

/* "{/a: 1}" as rows. */
static struct row load(const char *assertions)
{
	struct row row = {0};
	const char *text = arena_printf(bench.load.arena, "json: %s\n", assertions);

	if (!bench_load(&bench, fields, text, &row))
		fail_msg("%s", bench_problems(&bench));
	return row;
}

static void test_a_value_from_the_environment_is_not_shown(void **state)
{
	struct row row = load("{/a: '${SECRET}', /b: {max: '${PORT}'}, /c: '${PORT}'}");
	const char *printed = bench_print(&bench, fields, &row);
	const char *body = "{\"a\": 1, \"b\": 8081, \"c\": \"8080\"}";
	struct json_verdict verdict;

	(void)state;
	assert_null(strstr(printed, "S3CRET"));
	assert_null(strstr(printed, "8080"));
	verdict = match_json(&row.json, body, strlen(body), NULL);
	assert_string_equal(verdict.text, "/a is 1, not ***; /b is 8081, above max ***");
	free(verdict.text);
	measures_clear(&verdict.values);
}

static void test_what_cannot_be_written(void **state)
{
	static const struct {
		const char *assertions, *problem;
	} rows[] = {
		{"{status: ok}",
			"1:16: 'status' is not a JSON pointer: one begins with '/', as in "
			"/status\n"},
		{"{/a~b: ok}",
			"1:14: '/a~b' is not a JSON pointer: write ~0 for a '~', and ~1 for "
			"a '/' in a key\n"},
		{"{/a: }",
			"1:12: nothing is asserted of '/a'; write a value, {max: 5} or {exists: "
			"true}\n"},
		{"{/a: ~}",
			"1:12: nothing is asserted of '/a'; write a value, {max: 5} or {exists: "
			"true}\n"},
		{"{/a: {}}",
			"1:12: nothing is asserted of '/a'; write a value, {max: 5} or "
			"{exists: true}\n"},
		{"{/a: {exists: false, max: 5}}",
			"1:12: '/a' cannot be like something and not "
			"exist; keep one of the two\n"},
		{"{/a: {min: 6, max: 5}}", "1:12: 'min' of '/a' is above its 'max'\n"},
		{"{/a: {max: five}}", "1:18: 'max' is a number, such as 5 or 0.25\n"},
		{"{/a: {exists: 1}}", "1:21: 'exists' is neither true nor false\n"},
		{"{/a: {equals: [1]}}",
			"1:21: 'equals' wants a text, number, true, false or null, "
			"not a list\n"},
		{"{/a: [1, 2]}",
			"1:12: 'equals' wants a text, number, true, false or null, not a "
			"list\n"},
		{"{/a: {maximum: 5}}", "1:13: unknown key 'maximum' in the /a map\n"},
		{"{/a: {warning: x}}",
			"1:22: 'warning': 'x' is not a range; write 10, 10:, ~:10, "
			"10:20 or @10:20\n"},
		{"{/a: {match: '('}}",
			"1:20: 'match' is not a valid pattern: missing closing "
			"parenthesis, at byte 2 of '('\n"},
		{"{/a: 1e999}", "1:12: 'equals': 1e999 is too large a number\n"},
		{"{/a: 99999999999999999999}",
			"1:12: 'equals': 99999999999999999999 is too large a number\n"},
		{"ok", "1:7: 'json' is a map of names, such as {NAME: {equals: ...}}\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct row row = {0};
		const char *text = arena_printf(bench.load.arena, "json: %s\n", rows[i].assertions);

		assert_false(bench_load(&bench, fields, text, &row));
		assert_string_equal(bench_problems(&bench), rows[i].problem);
		diag_destroy(bench.load.diag);
		bench.load.diag = diag_create();
	}
}

static void test_what_is_printed_reads_back_and_compares(void **state)
{
	static const char *const texts[] = {"{/a: ok}", "{/a: 5}", "{/a: \"5\"}", "{/a: null}",
		"{/a: \"null\"}", "{/a: true}", "{/a: {min: -1.5, max: 2e3}}",
		"{/a: {exists: false}}", "{/b: ok}", "{/a: ok, /b: ok}", "{\"\": x}",
		"{/a~1b: {match: \"^a\"}}", "{/a: {warning: \"@1:2\", critical: 4}}",
		"{/a: {not_equals: null}}"};
	struct row rows[sizeof(texts) / sizeof(*texts)];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct row again = {0};

		rows[i] = load(texts[i]);
		assert_true(
			bench_load(&bench, fields, bench_print(&bench, fields, &rows[i]), &again));
		assert_true(field_equal(fields, &rows[i], &again));
		for (size_t j = 0; j < i; j++)
			assert_false(field_equal(fields, &rows[i], &rows[j]));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_value_from_the_environment_is_not_shown),
		TEST(test_what_cannot_be_written),
		TEST(test_what_is_printed_reads_back_and_compares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
