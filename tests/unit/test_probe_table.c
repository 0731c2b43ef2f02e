// SPDX-License-Identifier: MIT
/* What `probity probe` prints, and the exit code that goes with it. */
#include "tests/unit/unit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "runner/probe_table.h"

static struct outcome fine_outcome, slow_outcome, no_outcome;

static struct probe_result fine = {
	.name = "ready",
	.id = "web-1:ready",
	.target = "http://127.0.0.1/ready",
	.ran = true,
	.status = PROBE_PASSING,
	.line = "",
	.outcome = &fine_outcome,
};
static struct probe_result slow = {
	.name = "orders",
	.id = "web-1:orders",
	.target = "127.0.0.1:25",
	.ran = true,
	.status = PROBE_WARNING,
	.line = "slower than 300ms",
	.outcome = &slow_outcome,
};
static struct probe_result unfinished = {
	.name = "queue",
	.id = "web-1:queue",
	.target = "/bin/sleep 9",
	.outcome = &no_outcome,
};

static int make_outcomes(void **unused)
{
	(void)unused;
	fine_outcome = (struct outcome){
		.started = 100,
		.ended = 100.25,
		.phase_started = {[PHASE_START] = 100, [PHASE_RUN] = 100.125},
	};
	output_append(&fine_outcome.output, "OK\nmore", 7);
	measures_add(&fine_outcome.values, "load1", 0.5, "");
	slow_outcome = (struct outcome){
		.status = PROBE_CRITICAL,
		.reason = REASON_CUT,
		.started = 100,
		.ended = 102,
		.phase_started = {[PHASE_START] = 100},
	};
	return 0;
}

static int drop_outcomes(void **unused)
{
	(void)unused;
	outcome_clear(&fine_outcome);
	outcome_clear(&slow_outcome);
	return 0;
}

/* What is printed, free(). */
static char *print(const struct probe_result *results, size_t count,
	const struct probe_table_style *style, int expected_code)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	assert_non_null(stream);
	assert_int_equal(probe_table_print(results, count, style, stream), expected_code);
	assert_int_equal(fclose(stream), 0);
	return text;
}

static void a_person_sees_one_line_a_check(void **unused)
{
	const struct probe_result results[] = {fine, slow, unfinished};
	char *text = print(results, 3, &(struct probe_table_style){0}, 3);

	(void)unused;
	assert_string_equal(text,
		"STATUS   NAME    TIME   OUTPUT\n"
		"passing  ready   250ms  OK\n"
		"warning  orders  2.0s   slower than 300ms\n"
		"-        queue   -      did not end\n");
	free(text);
}

/* As fine, with a trace: 62.5 ms until it runs, a step 125 ms after the start. */
static struct outcome traced_outcome(void)
{
	struct outcome outcome = {.started = 100, .ended = 100.25, .trace = trace_create()};
	struct trace *trace = outcome.trace;

	trace_add(trace, TRACE_PHASE, "start");
	trace_add(trace, TRACE_PHASE, "run");
	trace_add(trace, TRACE_STEP, "sent %d bytes", 5);
	trace->lines[0].at = 100;
	trace->lines[1].at = 100.0625;
	trace->lines[2].at = 100.125;
	return outcome;
}

static void a_waterfall_follows_its_check(void **unused)
{
	struct outcome outcome = traced_outcome();
	struct probe_result result = fine;
	char *text;

	(void)unused;
	result.outcome = &outcome;
	text = print((const struct probe_result[]){result, unfinished}, 2,
		&(struct probe_table_style){.verbose = true}, 3);
	assert_string_equal(text,
		"STATUS   NAME   TIME   OUTPUT\n"
		"passing  ready  250ms  \n"
		"        0.0 ms  start           62.5 ms  |########                        |\n"
		"       62.5 ms  run            187.5 ms  |        ########################|\n"
		"      125.0 ms    step         sent 5 bytes\n"
		"-        queue  -      did not end\n");
	free(text);
	outcome_clear(&outcome);
}

static void a_trace_is_cut_and_says_so(void **unused)
{
	struct outcome outcome = traced_outcome();
	struct probe_result result = fine;
	char *text;

	(void)unused;
	for (int i = 0; i < TRACE_LINES; i++)
		trace_add(outcome.trace, TRACE_STEP, "again\nand again");
	result.outcome = &outcome;
	text = print(&result, 1, &(struct probe_table_style){.verbose = true}, 0);
	assert_non_null(strstr(text, "  step         again"));
	assert_non_null(strstr(text, "\n                  3 more lines left out\n"));
	free(text);
	outcome_clear(&outcome);
}

static void json_holds_the_trace_where_asked(void **unused)
{
	struct outcome outcome = traced_outcome();
	struct probe_result result = fine;
	json_t *found,
		*expected = json_loads(
			"[{\"at\": 0.0, \"kind\": \"phase\", \"text\": \"start\"},"
			" {\"at\": 0.0625, \"kind\": \"phase\", \"text\": \"run\"},"
			" {\"at\": 0.125, \"kind\": \"step\", \"text\": \"sent 5 bytes\"}]",
			0, NULL);
	char *text;

	(void)unused;
	result.outcome = &outcome;
	text = print((const struct probe_result[]){result, unfinished}, 2,
		&(struct probe_table_style){.json = true, .verbose = true}, 3);
	found = json_loads(text, 0, NULL);
	assert_true(json_equal(json_object_get(json_array_get(found, 0), "trace"), expected));
	assert_true(json_is_null(json_object_get(json_array_get(found, 1), "trace")));
	json_decref(found);
	json_decref(expected);
	free(text);
	outcome_clear(&outcome);
}

static void json_has_the_same_keys_in_each_row(void **unused)
{
	const struct probe_result results[] = {fine, slow, unfinished};
	char *text = print(results, 3, &(struct probe_table_style){.json = true}, 3);
	json_t *found = json_loads(text, 0, NULL);
	json_t *expected = json_loads(
		"[{\"name\": \"ready\", \"id\": \"web-1:ready\","
		"  \"target\": \"http://127.0.0.1/ready\", \"status\": \"passing\", \"reason\": "
		"\"\","
		"  \"seconds\": 0.25, \"output\": \"OK\\nmore\","
		"  \"values\": [{\"name\": \"load1\", \"value\": 0.5, \"unit\": \"\"}],"
		"  \"phases\": {\"start\": 0.125, \"run\": 0.125}},"
		" {\"name\": \"orders\", \"id\": \"web-1:orders\", \"target\": \"127.0.0.1:25\","
		"  \"status\": \"warning\", \"reason\": \"answer cut short\", \"seconds\": 2.0,"
		"  \"output\": \"slower than 300ms\", \"values\": [], \"phases\": {\"start\": "
		"2.0}},"
		" {\"name\": \"queue\", \"id\": \"web-1:queue\", \"target\": \"/bin/sleep 9\","
		"  \"status\": null, \"reason\": null, \"seconds\": null, \"output\": null,"
		"  \"values\": null, \"phases\": null}]",
		0, NULL);

	(void)unused;
	assert_non_null(expected);
	if (!json_equal(found, expected))
		fail_msg("%s", text);
	json_decref(found);
	json_decref(expected);
	free(text);
}

static void the_code_is_the_worst_status(void **unused)
{
	struct probe_result critical = slow;
	static const struct probe_table_style plain;

	(void)unused;
	critical.status = PROBE_CRITICAL;
	free(print(NULL, 0, &plain, 0));
	free(print(&fine, 1, &plain, 0));
	free(print((const struct probe_result[]){slow, fine}, 2, &plain, 1));
	free(print((const struct probe_result[]){slow, critical, fine}, 3, &plain, 2));
	free(print((const struct probe_result[]){unfinished, critical}, 2, &plain, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_person_sees_one_line_a_check),
		cmocka_unit_test(a_waterfall_follows_its_check),
		cmocka_unit_test(a_trace_is_cut_and_says_so),
		cmocka_unit_test(json_holds_the_trace_where_asked),
		cmocka_unit_test(json_has_the_same_keys_in_each_row),
		cmocka_unit_test(the_code_is_the_worst_status),
	};

	return cmocka_run_group_tests(tests, make_outcomes, drop_outcomes);
}
