// SPDX-License-Identifier: MIT
/* Assertions on JSON: what they say of every type, what is no document, what would take too much.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_bench.h"
#include "probes/match_json.h"
#include "probes/trace.h"

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

static void expect_verdict(struct json_verdict verdict, enum probe_status status,
	enum probe_reason reason, const char *text)
{
	if (text == NULL && verdict.text != NULL)
		fail_msg("not wanted: %s", verdict.text);
	if (text != NULL)
		assert_string_equal(verdict.text, text);
	assert_int_equal(verdict.status, status);
	assert_int_equal(verdict.reason, reason);
	free(verdict.text);
	measures_clear(&verdict.values);
}

/* text NULL: all holds. */
static void expect(const char *assertions, const char *body, const char *text)
{
	struct row row = load(assertions);

	expect_verdict(match_json(&row.json, body, strlen(body), NULL),
		text == NULL ? PROBE_PASSING : PROBE_CRITICAL,
		text == NULL ? REASON_NONE : REASON_MATCH, text);
}

static void test_a_bare_scalar_is_typed_as_json_is(void **state)
{
	static const struct {
		const char *assertion, *body, *text;
	} rows[] = {
		{"{/a: ok}", "{\"a\": \"ok\"}", NULL},
		{"{/a: ok}", "{\"a\": \"OK\"}", "/a is \"OK\", not \"ok\""},
		{"{/a: true}", "{\"a\": true}", NULL},
		{"{/a: true}", "{\"a\": \"true\"}", "/a is \"true\", not true"},
		{"{/a: 'true'}", "{\"a\": \"true\"}", NULL},
		{"{/a: 'true'}", "{\"a\": true}", "/a is true, not \"true\""},
		{"{/a: false}", "{\"a\": 0}", "/a is 0, not false"},
		{"{/a: 5}", "{\"a\": 5}", NULL},
		{"{/a: 5}", "{\"a\": 5.0}", NULL},
		{"{/a: 5}", "{\"a\": 50e-1}", NULL},
		{"{/a: 5.0}", "{\"a\": 5}", NULL},
		{"{/a: 5}", "{\"a\": 5.1}", "/a is 5.1, not 5"},
		{"{/a: 5}", "{\"a\": \"5\"}", "/a is \"5\", not 5"},
		{"{/a: \"5\"}", "{\"a\": \"5\"}", NULL},
		{"{/a: \"5\"}", "{\"a\": 5}", "/a is 5, not \"5\""},
		{"{/a: 1e3}", "{\"a\": 1000}", NULL},
		{"{/a: 007}", "{\"a\": \"007\"}", NULL},
		{"{/a: 007}", "{\"a\": 7}", "/a is 7, not \"007\""},
		{"{/a: .5}", "{\"a\": 0.5}", "/a is 0.5, not \".5\""},
		{"{/a: null}", "{\"a\": null}", NULL},
		{"{/a: null}", "{\"a\": 0}", "/a is 0, not null"},
		{"{/a: 'null'}", "{\"a\": null}", "/a is null, not \"null\""},
		{"{/a: no}", "{\"a\": \"no\"}", NULL},
		{"{/a: ''}", "{\"a\": \"\"}", NULL},
		{"{/a: '[]'}", "{\"a\": []}", "/a is an array, not \"[]\""},
		{"{/a: 9007199254740993}", "{\"a\": 9007199254740992}",
			"/a is 9007199254740992, not 9007199254740993"},
		{"{/a: ok}", "{\"a\": {\"b\": 1}}", "/a is an object, not \"ok\""},
		{"{/a: \xC3\xA9t\xC3\xA9}", "{\"a\": \"\\u00e9t\xC3\xA9\"}", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect(rows[i].assertion, rows[i].body, rows[i].text);
}

static void test_pointers(void **state)
{
	static const char body[] = "{\"a\": [10, {\"b/c\": 11}, [12]], \"\": 13, \"m~n\": 14,"
				   " \"0\": 15, \" \": 16, \"~1\": 17, \"x\": null}";
	static const struct {
		const char *assertion, *text;
	} rows[] = {
		{"{/a/0: 10}", NULL},
		{"{/a/1/b~1c: 11}", NULL},
		{"{/a/2/0: 12}", NULL},
		{"{/: 13}", NULL},
		{"{/m~0n: 14}", NULL},
		{"{/0: 15}", NULL},
		{"{'/ ': 16}", NULL},
		{"{/~01: 17}", NULL},
		{"{/x: null}", NULL},
		{"{/b: 1}", "/b is not there"},
		{"{/a/3: 1}", "/a/3 is not there"},
		{"{/a/00: 10}", "/a/00 is not there"},
		{"{/a/-: 1}", "/a/- is not there"},
		{"{/a/+0: 1}", "/a/+0 is not there"},
		{"{/a/4294967296: 1}", "/a/4294967296 is not there"},
		{"{/a/0/x: 1}", "/a/0/x is not there"},
		{"{/x/y: 1}", "/x/y is not there"},
		{"{/a/: 1}", "/a/ is not there"},
		{"{\"\": 1}", "the document is an object, not 1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect(rows[i].assertion, body, rows[i].text);
	expect("{\"\": 5}", " 5 ", NULL);
	expect("{\"\": up}", "\"up\"", NULL);
}

static void test_each_key(void **state)
{
	static const struct {
		const char *assertion, *body, *text;
	} rows[] = {
		{"{/a: {equals: ok}}", "{\"a\": \"ok\"}", NULL},
		{"{/a: {not_equals: down}}", "{\"a\": \"up\"}", NULL},
		{"{/a: {not_equals: down}}", "{\"a\": \"down\"}",
			"/a is \"down\", which not_equals rules out"},
		{"{/a: {not_equals: 5}}", "{\"a\": \"5\"}", NULL},
		{"{/a: {not_equals: 5}}", "{\"a\": 5.0}", "/a is 5.0, which not_equals rules out"},
		{"{/a: {not_equals: 5}}", "{}", "/a is not there"},
		{"{/a: {max: 5}}", "{\"a\": 5}", NULL},
		{"{/a: {max: 5}}", "{\"a\": -7}", NULL},
		{"{/a: {max: 5}}", "{\"a\": 5.001}", "/a is 5.001, above max 5"},
		{"{/a: {min: -0.5}}", "{\"a\": -0.5}", NULL},
		{"{/a: {min: -0.5}}", "{\"a\": -1}", "/a is -1, below min -0.5"},
		{"{/a: {min: 1, max: 2}}", "{\"a\": 3}", "/a is 3, above max 2"},
		{"{/a: {max: 5}}", "{\"a\": \"1\"}", "/a is \"1\", not a number"},
		{"{/a: {max: 5}}", "{\"a\": null}", "/a is null, not a number"},
		{"{/a: {max: 5}}", "{}", "/a is not there"},
		{"{/a: {critical: 4}}", "{\"a\": 4}", NULL},
		{"{/a: {critical: 4}}", "{\"a\": 4.5}", "/a = 4.5 is outside critical 4"},
		{"{/a: {warning: 4, critical: '@8:9'}}", "{\"a\": 8}",
			"/a = 8 is inside critical 8:9"},
		{"{/a: {warning: 4}}", "{\"a\": true}", "/a is true, not a number"},
		{"{/a: {exists: true}}", "{\"a\": null}", NULL},
		{"{/a: {exists: true}}", "{\"b\": 1}", "/a is not there"},
		{"{/a: {exists: false}}", "{\"b\": 1}", NULL},
		{"{/a: {exists: false}}", "{\"a\": null}", "/a is there: null"},
		{"{/a: {exists: false}}", "{\"a\": [1]}", "/a is there: an array"},
		{"{/a: {match: '^v[12]'}}", "{\"a\": \"v1.5\"}", NULL},
		{"{/a: {match: '^v[12]'}}", "{\"a\": \"v3\"}",
			"/a is \"v3\", which match does not match"},
		{"{/a: {reject: err}}", "{\"a\": \"fine\"}", NULL},
		{"{/a: {reject: err}}", "{\"a\": \"an err or\"}",
			"/a is \"an err or\", which reject matches"},
		{"{/a: {match: a}}", "{\"a\": 5}", "/a is 5, not a text"},
		{"{/a: {reject: a}}", "{\"a\": {}}", "/a is an object, not a text"},
		{"{/a: {reject: a}}", "{}", "/a is not there"},
		{"{/a: {match: a, reject: b}}", "{\"a\": \"ab\"}",
			"/a is \"ab\", which reject matches"},
		/* Bytes after a NUL count. */
		{"{/a: {reject: b}}", "{\"a\": \"a\\u0000b\"}",
			"/a is \"a\\u0000b\", which reject matches"},
		{"{/a: a}", "{\"a\": \"a\\u0000b\"}", "/a is \"a\\u0000b\", not \"a\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect(rows[i].assertion, rows[i].body, rows[i].text);
}

static void test_what_is_no_document_is_critical(void **state)
{
	static const struct {
		const char *body, *text;
	} rows[] = {
		{"", "it is empty"},
		{"not found", "line 1, column 3: invalid token near 'not'"},
		{"{\"a\": 1", "line 1, column 7: '}' expected near end of file"},
		{"{\"a\": 1} x", "line 1, column 10: end of file expected near 'x'"},
		{"{\"a\": 1}{\"a\": 1}", "line 1, column 9: end of file expected near '{'"},
		{"{\"a\": NaN}", "line 1, column 9: invalid token near 'NaN'"},
		{"{\"a\": Infinity}", "line 1, column 14: invalid token near 'Infinity'"},
		{"{\"a\": 1e999}", "line 1, column 11: real number overflow near '1e999'"},
		{"{\"a\": 1,}", "line 1, column 9: string or '}' expected near '}'"},
		{"{'a': 1}", "line 1, column 2: string or '}' expected near '''"},
		{"{\"a\": 1,\n \"a\": 1}", "line 2, column 4: duplicate object key near '\"a\"'"},
		{"{\"a\": 01}", "line 1, column 7: invalid token near '0'"},
		{"{\"a\": \"\xff\"}", "line 1, column 7: unable to decode byte 0xff near '\"'"},
		{"{\"a\": \"\xc0\x80\"}", "line 1, column 7: unable to decode byte 0xc0 near '\"'"},
		{"\xef\xbb\xbf{\"a\": 1}", "line 1, column 1: invalid token near '\xef\xbb\xbf'"},
		{"{\"a\": \"x\ny\"}", "line 1, column 8: unexpected newline near '\"x'"},
		{"<html>{\"a\": 1}</html>", "line 1, column 1: invalid token near '<'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct row row = load("{/a: 1, /b: {exists: false}}");
		struct json_verdict verdict =
			match_json(&row.json, rows[i].body, strlen(rows[i].body), NULL);
		static const char head[] = "the body is not JSON: ";

		assert_int_equal(verdict.status, PROBE_CRITICAL);
		assert_int_equal(verdict.reason, REASON_MATCH);
		assert_memory_equal(verdict.text, head, sizeof(head) - 1);
		assert_string_equal(verdict.text + sizeof(head) - 1, rows[i].text);
		free(verdict.text);
	}
}

/* Numbers that no long long holds are read as well as a double can. */
static void test_large_numbers_are_no_reason_to_give_up(void **state)
{
	(void)state;
	expect("{/a: 1}", "{\"a\": 1, \"id\": 18446744073709551615}", NULL);
	expect("{/id: {min: 18000000000000000000.0}}", "{\"id\": 18446744073709551615}", NULL);
	expect("{/id: {max: 5}}", "{\"id\": 18446744073709551615}",
		"/id is 1.84467440737096e19, above max 5");
}

static char *repeat(const char *word, size_t count, const char *end)
{
	char *text = malloc(strlen(word) * count + strlen(end) + 1), *at = text;

	for (size_t i = 0; i < count; i++)
		at = stpcpy(at, word);
	(void)strcpy(at, end);
	return text;
}

static void test_bodies_that_would_take_too_much_are_refused(void **state)
{
	static const char words[] = "the body has more than 50000 JSON values, or 128 levels";
	struct row row = load("{/0: 0}");
	char *bodies[] = {
		repeat("[", 129, ""),
		repeat("{\"a\":", 1000000, ""),
		repeat("[],", 60000, ""),
		repeat("0,", 60000, ""),
	};
	char *body;

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		expect_verdict(match_json(&row.json, bodies[i], strlen(bodies[i]), NULL),
			PROBE_CRITICAL, REASON_ENGINE, words);
		free(bodies[i]);
	}
	/* In a text they are only text. */
	body = repeat("[{,\\\"", 100000, "\"]");
	memcpy(body, "[\"[{,", 5);
	row = load("{/0: {exists: true}}");
	expect_verdict(
		match_json(&row.json, body, strlen(body), NULL), PROBE_PASSING, REASON_NONE, NULL);
	free(body);
	body = repeat("[[[[", 32, "]]]]");
	for (int i = 0; i < 31; i++) {
		char *longer;

		assert_true(asprintf(&longer, "%s]]]]", body) > 0);
		free(body);
		body = longer;
	}
	expect_verdict(
		match_json(&row.json, body, strlen(body), NULL), PROBE_PASSING, REASON_NONE, NULL);
	free(body);
}

static void test_an_engine_error_is_critical_whatever_the_polarity(void **state)
{
	static const char *const rows[][2] = {
		{"{/a: {match: '(a+)+[xz]'}}",
			"/a, match: the pattern takes too much effort on this text"},
		{"{/a: {reject: '(a+)+[xz]'}}",
			"/a, reject: the pattern takes too much effort on this text"},
	};
	char *text = repeat("a", 1000, "");
	char *body;

	(void)state;
	assert_true(asprintf(&body, "{\"a\": \"%s\"}", text) > 0);
	for (size_t i = 0; i < 2; i++) {
		struct row row = load(rows[i][0]);

		expect_verdict(match_json(&row.json, body, strlen(body), NULL), PROBE_CRITICAL,
			REASON_ENGINE, rows[i][1]);
	}
	free(body);
	free(text);
}

static void test_all_that_does_not_hold_is_told_and_the_worst_counts(void **state)
{
	struct row row = load("{/a: {warning: 1, critical: 5}, /b: {warning: 1}, /c: 1, /d: 2}");
	const char *warning = "{\"a\": 2, \"b\": 0, \"c\": 1, \"d\": 2}";
	const char *both = "{\"a\": 2, \"b\": 9, \"c\": 0, \"d\": 2}";

	(void)state;
	expect_verdict(match_json(&row.json, warning, strlen(warning), NULL), PROBE_WARNING,
		REASON_MATCH, "/a = 2 is outside warning 1");
	expect_verdict(match_json(&row.json, both, strlen(both), NULL), PROBE_CRITICAL,
		REASON_MATCH,
		"/a = 2 is outside warning 1; /b = 9 is outside warning 1; /c is 0, not 1");
}

static void test_long_values_are_shortened(void **state)
{
	char *text = repeat("0123456789", 100, "");
	struct row row = load("{/a: x}");
	struct json_verdict verdict;
	char *body;

	(void)state;
	assert_true(asprintf(&body, "{\"a\": \"%s\"}", text) > 0);
	verdict = match_json(&row.json, body, strlen(body), NULL);
	assert_true(strlen(verdict.text) < 110);
	assert_non_null(strstr(verdict.text, "bytes left out"));
	free(verdict.text);
	free(body);
	free(text);
}

static void test_numbers_with_limits_are_values_and_all_is_traced(void **state)
{
	struct row row = load("{/a: 1, /b: {max: 5}, /c: {warning: 4}, /d: {min: 1}, /e: x}");
	const char *body = "{\"a\": 1, \"b\": 9, \"c\": 2.5, \"d\": \"1\", \"e\": \"x\"}";
	struct trace *trace = trace_create();
	struct json_verdict verdict = match_json(&row.json, body, strlen(body), trace);

	(void)state;
	assert_int_equal(verdict.values.count, 2);
	assert_string_equal(verdict.values.items[0].name, "/b");
	assert_true((int)verdict.values.items[0].value == 9);
	assert_string_equal(verdict.values.items[1].name, "/c");
	assert_int_equal(trace->count, 5);
	assert_int_equal(trace->lines[0].kind, TRACE_ASSERTION);
	assert_string_equal(trace->lines[0].text, "json /a: 1");
	assert_string_equal(trace->lines[4].text, "json /e: \"x\"");
	measures_clear(&verdict.values);
	free(verdict.text);
	trace_destroy(trace);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_bare_scalar_is_typed_as_json_is),
		TEST(test_pointers),
		TEST(test_each_key),
		TEST(test_what_is_no_document_is_critical),
		TEST(test_large_numbers_are_no_reason_to_give_up),
		TEST(test_bodies_that_would_take_too_much_are_refused),
		TEST(test_an_engine_error_is_critical_whatever_the_polarity),
		TEST(test_all_that_does_not_hold_is_told_and_the_worst_counts),
		TEST(test_long_values_are_shortened),
		TEST(test_numbers_with_limits_are_values_and_all_is_traced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
