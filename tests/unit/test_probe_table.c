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

static void phases_follow_their_check(void **unused)
{
	const struct probe_result results[] = {fine, unfinished};
	char *text = print(results, 2, &(struct probe_table_style){.verbose = true}, 3);

	(void)unused;
	assert_string_equal(text,
		"STATUS   NAME   TIME   OUTPUT\n"
		"passing  ready  250ms  OK\n"
		"    start 125.0 ms, run 125.0 ms\n"
		"-        queue  -      did not end\n");
	free(text);
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
		"  \"phases\": {\"start\": 0.125, \"run\": 0.125}},"
		" {\"name\": \"orders\", \"id\": \"web-1:orders\", \"target\": \"127.0.0.1:25\","
		"  \"status\": \"warning\", \"reason\": \"answer cut short\", \"seconds\": 2.0,"
		"  \"output\": \"slower than 300ms\", \"phases\": {\"start\": 2.0}},"
		" {\"name\": \"queue\", \"id\": \"web-1:queue\", \"target\": \"/bin/sleep 9\","
		"  \"status\": null, \"reason\": null, \"seconds\": null, \"output\": null,"
		"  \"phases\": null}]",
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
		cmocka_unit_test(phases_follow_their_check),
		cmocka_unit_test(json_has_the_same_keys_in_each_row),
		cmocka_unit_test(the_code_is_the_worst_status),
	};

	return cmocka_run_group_tests(tests, make_outcomes, drop_outcomes);
}
