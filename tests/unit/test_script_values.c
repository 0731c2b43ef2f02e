// SPDX-License-Identifier: MIT
/* Limits on what scripts tell: they only make worse what the exit code says. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/script.h"
#include "probes/trace.h"
#include "tests/unit/no_loader.h"

void field_print_text(const char *text, FILE *stream)
{
	(void)text;
	(void)stream;
}

/* load1 up to 4 and 8, and at least 10 of free. */
static struct script_limit limits[] = {
	{.name = "load1", .warning = {.text = "4", .to = 4}, .critical = {.text = "8", .to = 8}},
	{.name = "free", .critical = {.text = "10:", .from = 10, .to = INFINITY}},
};

static struct script_conf conf = {.values = {.items = limits, .count = 1}};
static struct measures measures;

/* One run that wrote text and ended with a status; the words of what follows, NULL for none. */
static void expect(const char *text, enum probe_status exit_status, enum probe_status status,
	const char *words)
{
	struct script_values *values = script_values_create(&conf, &measures, NULL);
	struct script_verdict verdict = {.status = exit_status};

	measures_clear(&measures);
	/* In two pieces, cut where it hurts. */
	script_values_take(values, text, strlen(text) / 2);
	script_values_take(values, text + strlen(text) / 2, strlen(text) - strlen(text) / 2);
	script_values_judge(values, &verdict);
	script_values_destroy(values);
	assert_int_equal(verdict.status, status);
	assert_int_equal(verdict.reason, words == NULL ? REASON_NONE : REASON_MATCH);
	if (words == NULL)
		assert_null(verdict.text);
	else
		assert_string_equal(verdict.text, words);
	free(verdict.text);
}

static void test_a_limit_makes_it_worse_and_nothing_makes_it_better(void **state)
{
	static const char *const texts[] = {"OK | load1=2", "OK | load1=5", "OK | load1=9"};

	(void)state;
	conf.values.count = 1;
	for (int value = PROBE_PASSING; value <= PROBE_CRITICAL; value++) {
		for (int status = PROBE_PASSING; status <= PROBE_CRITICAL; status++) {
			const char *words = value == PROBE_CRITICAL
				? "load1 = 9 is outside critical 8"
				: "load1 = 5 is outside warning 4";

			expect(texts[value], (enum probe_status)status,
				(enum probe_status)(value > status ? value : status),
				value > status ? words : NULL);
		}
	}
}

static void test_a_value_that_is_not_there_is_critical(void **state)
{
	(void)state;
	conf.values.count = 1;
	expect("OK", PROBE_PASSING, PROBE_CRITICAL, "no value 'load1' in the output; it has: none");
	expect("OK load1=2", PROBE_WARNING, PROBE_CRITICAL,
		"no value 'load1' in the output; it has: none");
	expect("OK | load5=1 load15=2", PROBE_PASSING, PROBE_CRITICAL,
		"no value 'load1' in the output; it has: load5, load15");
	expect("OK | LOAD1=1", PROBE_PASSING, PROBE_CRITICAL,
		"no value 'load1' in the output; it has: LOAD1");
	expect("OK", PROBE_CRITICAL, PROBE_CRITICAL, NULL);
	expect("OK | load1=U;4;8", PROBE_PASSING, PROBE_CRITICAL, "load1 = U is not a number");
	expect("OK | load1=0,5", PROBE_PASSING, PROBE_CRITICAL, "load1 = 0,5 is not a number");
	expect("OK | load1=", PROBE_PASSING, PROBE_CRITICAL, "load1 =  is not a number");
	conf.values.count = 2;
	expect("OK | x=1", PROBE_PASSING, PROBE_CRITICAL,
		"no value 'load1' in the output; no value 'free' in the output; it has: x");
}

static void test_all_that_is_worse_is_told(void **state)
{
	(void)state;
	conf.values.count = 2;
	expect("OK | load1=5 free=12%", PROBE_PASSING, PROBE_WARNING,
		"load1 = 5 is outside warning 4");
	expect("OK | load1=5 free=9.5%", PROBE_PASSING, PROBE_CRITICAL,
		"load1 = 5 is outside warning 4; free = 9.5% is outside critical 10:");
	expect("OK | load1=5 free=9.5%", PROBE_WARNING, PROBE_CRITICAL,
		"free = 9.5% is outside critical 10:");
	expect("OK | load1=8 free=10", PROBE_WARNING, PROBE_WARNING, NULL);
}

/* Of several values of one name the worst counts, wherever it stands. */
static void test_the_worst_of_one_name_counts(void **state)
{
	(void)state;
	conf.values.count = 1;
	expect("OK | load1=1 load1=9 load1=5", PROBE_PASSING, PROBE_CRITICAL,
		"load1 = 9 is outside critical 8");
	expect("OK | load1=9 load1=U load1=10", PROBE_PASSING, PROBE_CRITICAL,
		"load1 = 9 is outside critical 8");
}

static void test_values_are_noted_with_and_without_limits(void **state)
{
	(void)state;
	conf.values.count = 0;
	expect("OK | a=1.5s b=U c=x\nmore | 'd e'=2", PROBE_PASSING, PROBE_PASSING, NULL);
	assert_int_equal(measures.count, 3);
	assert_string_equal(measures.items[0].name, "a");
	assert_string_equal(measures.items[0].unit, "s");
	assert_true(measures.items[0].value > 1.4 && measures.items[0].value < 1.6);
	assert_true(isnan(measures.items[1].value));
	assert_string_equal(measures.items[2].name, "d e");
	measures_clear(&measures);
}

/* More values than a status shows, more labels than a message lists. */
static void test_many_values(void **state)
{
	char text[16384] = "OK |";
	struct script_values *values;
	struct script_verdict verdict = {.status = PROBE_PASSING};

	(void)state;
	conf.values.count = 2;
	for (int i = 0; i < 500; i++)
		(void)sprintf(text + strlen(text), " number-%d=%d", i, i);
	(void)strcat(text, " load1=9");
	values = script_values_create(&conf, &measures, NULL);
	script_values_take(values, text, strlen(text));
	script_values_judge(values, &verdict);
	script_values_destroy(values);
	assert_int_equal(measures.count, MEASURES_MOST);
	assert_int_equal(verdict.status, PROBE_CRITICAL);
	assert_non_null(
		strstr(verdict.text, "load1 = 9 is outside critical 8; no value 'free' in"));
	assert_non_null(strstr(verdict.text, "it has: number-0, number-1, "));
	assert_non_null(strstr(verdict.text, ", ..."));
	assert_true(strlen(verdict.text) < 400);
	free(verdict.text);
	measures_clear(&measures);
}

static void test_a_trace_tells_of_each_limit(void **state)
{
	struct trace *trace = trace_create();
	struct script_values *values;
	struct script_verdict verdict = {.status = PROBE_PASSING};

	(void)state;
	conf.values.count = 2;
	values = script_values_create(&conf, &measures, trace);
	script_values_take(values, "OK | load1=5 free=20", 20);
	script_values_judge(values, &verdict);
	script_values_destroy(values);
	assert_int_equal(trace->count, 2);
	assert_int_equal(trace->lines[0].kind, TRACE_LIMIT);
	assert_string_equal(trace->lines[0].text, "load1 = 5, warning 4, critical 8: warning");
	assert_string_equal(trace->lines[1].text, "free = 20, warning -, critical 10:: passing");
	free(verdict.text);
	trace_destroy(trace);
	measures_clear(&measures);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_limit_makes_it_worse_and_nothing_makes_it_better),
		cmocka_unit_test(test_a_value_that_is_not_there_is_critical),
		cmocka_unit_test(test_all_that_is_worse_is_told),
		cmocka_unit_test(test_the_worst_of_one_name_counts),
		cmocka_unit_test(test_values_are_noted_with_and_without_limits),
		cmocka_unit_test(test_many_values),
		cmocka_unit_test(test_a_trace_tells_of_each_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
