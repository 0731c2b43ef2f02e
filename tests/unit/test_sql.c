// SPDX-License-Identifier: MIT
/* What database probes may ask: the rows, the rules between them, and what the answers mean. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_bench.h"
#include "probes/sql_judge.h"

struct row {
	struct sql_conf sql;
};

static const struct conf_field fields[] = {
	SQL_ROWS(struct row),
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

/* The rows of `text`, with the rules; problems: what must be wrong with it, "" for nothing. */
static struct sql_conf load(const char *text, const char *problems)
{
	struct row row = {0};

	if (bench_load(&bench, fields, text, &row))
		(void)sql_check(&row.sql, bench.tree, &bench.load);
	assert_string_equal(bench_problems(&bench), problems);
	return row.sql;
}

static void test_rules(void **state)
{
	static const struct {
		const char *text, *problems;
	} rows[] = {
		{"query: select 1\nexpect: x\n", ""},
		{"max_lag: 30s\n", ""},
		{"role: any\nmax_lag: {note: 1s, warning: 2s, critical: 3s}\n", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		(void)load(rows[i].text, rows[i].problems);
	assert_float_equal(load("max_lag: 30s\n", "").max_lag.critical, 30, 0);
	assert_false(sql_wants_state(&(struct sql_conf){.query = "x"}));
	assert_true(sql_wants_state(&(struct sql_conf){.role = SQL_ROLE_REPLICA}));
	assert_true(sql_wants_state(&(struct sql_conf){.access = SQL_ACCESS_READ_ONLY}));
	assert_true(sql_wants_state(&(struct sql_conf){.max_lag = {.note = 1}}));
}

static void refuse(const char *text, const char *problems)
{
	struct bench fresh;
	struct row row = {0};

	bench_open(&fresh);
	if (bench_load(&fresh, fields, text, &row))
		assert_false(sql_check(&row.sql, fresh.tree, &fresh.load));
	assert_string_equal(bench_problems(&fresh), problems);
	bench_close(&fresh);
}

static void test_what_does_not_go_together(void **state)
{
	(void)state;
	refuse("expect: x\n", "1:9: 'expect' looks at the answer to a query; add query\n");
	refuse("value: {critical: 5}\n",
		"1:8: 'value' looks at the answer to a query; add query\n");
	refuse("query: ' ; '\n", "1:8: 'query' is empty\n");
	refuse("role: primary\nmax_lag: 3s\n",
		"2:10: a primary is not behind; 'max_lag' is for a replica, or for role: any\n");
	refuse("query: select 1\nvalue: {}\n",
		"2:8: 'value' has no limit; write {warning: 100, critical: 200}\n");
	refuse("max_lag: {}\n",
		"1:10: 'max_lag' has no limit; write 30s, or {note: 10s, critical: 60s}\n");
	refuse("max_lag: {note: 5s, critical: 3s}\n",
		"1:31: critical must not be shorter than the milder limits before it\n");
}

static void expect(struct sql_verdict *verdict, enum probe_status status, const char *text)
{
	if (text == NULL)
		assert_null(verdict->text);
	else
		assert_string_equal(verdict->text == NULL ? "(nothing)" : verdict->text, text);
	assert_int_equal(verdict->status, status);
	sql_verdict_finish(verdict);
}

/* value NULL: NULL. */
static void judge(const char *rows, const char *value, enum probe_status status, const char *text)
{
	struct sql_conf conf = load(arena_printf(bench.load.arena, "query: x\n%s\n", rows), "");
	struct sql_verdict verdict = {0};

	sql_judge_answer(&conf,
		&(struct sql_answer){
			.rows = 1, .value = value, .length = value == NULL ? 0 : strlen(value)},
		&verdict);
	expect(&verdict, status, text);
}

static void test_the_first_column(void **state)
{
	(void)state;
	judge("", "anything", PROBE_PASSING, NULL);
	judge("", NULL, PROBE_PASSING, NULL);
	judge("expect: '^ok$'", "ok", PROBE_PASSING, NULL);
	judge("expect: '^ok$'", "no\tway", PROBE_CRITICAL,
		"the first column 'no\tway' does not match '^ok$'");
	judge("expect: '^ok$'", "", PROBE_CRITICAL, "the first column '' does not match '^ok$'");
	judge("expect: '.*'", NULL, PROBE_CRITICAL, "the first column is NULL");
	judge("value: {warning: 10, critical: 20}", NULL, PROBE_CRITICAL,
		"the first column is NULL");
	judge("value: {warning: 10, critical: 20}", "10", PROBE_PASSING, NULL);
	judge("value: {warning: 10, critical: 20}", "10.5", PROBE_WARNING,
		"the value 10.5 is outside warning 10");
	judge("value: {warning: 10, critical: 20}", "-1", PROBE_CRITICAL,
		"the value -1 is outside critical 20");
	judge("value: {critical: '@5:'}", "1e1", PROBE_CRITICAL,
		"the value 1e1 is inside critical 5:");
	judge("value: {critical: 20}", "", PROBE_CRITICAL, "the first column '' is not a number");
	for (size_t i = 0; i < 7; i++) {
		static const char *const none[] = {"NaN", "inf", "0x10", " 1", "1 2", "1-2", "t"};

		judge("value: {critical: '~:20'}", none[i], PROBE_CRITICAL,
			arena_printf(bench.load.arena, "the first column '%s' is not a number",
				none[i]));
	}
	judge("expect: '^7'\nvalue: {warning: 5}", "8", PROBE_CRITICAL,
		"the first column '8' does not match '^7'");
	judge("expect: '^7'\nvalue: {critical: 5}", "8", PROBE_CRITICAL,
		"the first column '8' does not match '^7', the value 8 is outside critical 5");
}

static void test_no_row(void **state)
{
	struct sql_conf conf = load("query: x\nexpect: y\n", "");
	struct sql_conf bare = load("query: x\n", "");
	struct sql_verdict verdict = {0};

	(void)state;
	sql_judge_answer(&bare, &(struct sql_answer){0}, &verdict);
	expect(&verdict, PROBE_PASSING, NULL);
	sql_judge_answer(&conf, &(struct sql_answer){0}, &verdict);
	assert_int_equal(verdict.reason, REASON_MATCH);
	expect(&verdict, PROBE_CRITICAL, "the query returned no row");
}

static void judge_server(
	const char *rows, struct sql_state server, enum probe_status status, const char *text)
{
	struct sql_conf conf = load(rows, "");
	struct sql_verdict verdict = {0};

	sql_judge_state(&conf, &server, &verdict);
	expect(&verdict, status, text);
}

static void test_the_server(void **state)
{
	const struct sql_state primary = {0};
	const struct sql_state replica = {.replica = true, .read_only = true, .lag = 5};
	const struct sql_state unknown = {.replica = true, .lag = NAN, .lag_unknown = "why"};

	(void)state;
	judge_server("role: primary", primary, PROBE_PASSING, "primary");
	judge_server("role: any", replica, PROBE_PASSING, "replica");
	judge_server("role: replica", replica, PROBE_PASSING, "replica");
	judge_server(
		"role: primary", replica, PROBE_CRITICAL, "the server is a replica, not a primary");
	judge_server(
		"role: replica", primary, PROBE_CRITICAL, "the server is a primary, not a replica");
	judge_server("access: read_write", primary, PROBE_PASSING, "primary, read-write");
	judge_server("access: read_write", replica, PROBE_CRITICAL, "the server is read-only");
	judge_server("access: read_only", replica, PROBE_PASSING, "replica, read-only");
	judge_server("access: read_only", primary, PROBE_CRITICAL, "the server is read-write");
	judge_server("max_lag: 5s", replica, PROBE_PASSING, "replica");
	judge_server("max_lag: 4s", replica, PROBE_CRITICAL, "the replica is more than 4s behind");
	judge_server("max_lag: 4s", primary, PROBE_PASSING, "primary");
	judge_server("max_lag: {note: 1s, critical: 1m}", replica, PROBE_PASSING,
		"replica, the replica is more than 1s behind");
	judge_server("max_lag: {note: 1s, warning: 3s, critical: 1m}", replica, PROBE_WARNING,
		"the replica is more than 3s behind");
	judge_server("max_lag: 1h", unknown, PROBE_CRITICAL,
		"how far the replica is behind is not known: why");
	judge_server("role: replica", unknown, PROBE_PASSING, "replica");
	judge_server("role: replica\naccess: read_write\nmax_lag: 4s", replica, PROBE_CRITICAL,
		"the server is read-only, the replica is more than 4s behind");
}

/* One verdict over both; numbers that were seen are told. */
static void test_both_and_their_numbers(void **state)
{
	struct sql_conf conf = load("query: x\nvalue: {critical: 5}\nmax_lag: {warning: 1s}\n", "");
	struct measures measures = {0};
	struct sql_verdict verdict = {.measures = &measures};

	(void)state;
	sql_judge_state(&conf, &(struct sql_state){.replica = true, .lag = 2.5}, &verdict);
	assert_int_equal(verdict.status, PROBE_WARNING);
	sql_judge_answer(
		&conf, &(struct sql_answer){.rows = 1, .value = "77x", .length = 2}, &verdict);
	assert_int_equal(measures.count, 2);
	assert_string_equal(measures.items[0].name, "lag");
	assert_float_equal(measures.items[0].value, 2.5, 0);
	assert_string_equal(measures.items[0].unit, "s");
	assert_string_equal(measures.items[1].name, "value");
	assert_float_equal(measures.items[1].value, 77, 0);
	expect(&verdict, PROBE_CRITICAL, "the value 77 is outside critical 5");
	measures_clear(&measures);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rules, open_bench, close_bench),
		cmocka_unit_test(test_what_does_not_go_together),
		cmocka_unit_test_setup_teardown(test_the_first_column, open_bench, close_bench),
		cmocka_unit_test_setup_teardown(test_no_row, open_bench, close_bench),
		cmocka_unit_test_setup_teardown(test_the_server, open_bench, close_bench),
		cmocka_unit_test_setup_teardown(
			test_both_and_their_numbers, open_bench, close_bench),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
