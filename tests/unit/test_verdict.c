// SPDX-License-Identifier: MIT
/* Latency limits, caps and the words on what is not claimed. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "runner/verdict.h"

/* A run that took `seconds` and ended with this status. */
static void expect_result(const struct time_limits *limits, double seconds,
	enum probe_status status, enum probe_status expected, const char *line)
{
	struct outcome outcome = {
		.status = status,
		.reason = status == PROBE_CRITICAL ? REASON_CONNECT : REASON_NONE,
		.detail = xstrdup("HTTP 200"),
		.started = 100,
		.ended = 100 + seconds,
	};
	struct verdict verdict = {0};

	verdict_init(&verdict, limits, &outcome);
	assert_int_equal(verdict.result, expected);
	assert_string_equal(verdict.line, line);
	verdict_finish(&verdict);
	outcome_clear(&outcome);
}

static void slow_runs_are_judged_by_the_strictest_limit(void **unused)
{
	const struct time_limits limits = {.note = 0.1, .warning = 0.5, .critical = 2};
	const struct time_limits none = {0};

	(void)unused;
	expect_result(&none, 50, PROBE_PASSING, PROBE_PASSING, "HTTP 200");
	expect_result(&limits, 0.05, PROBE_PASSING, PROBE_PASSING, "HTTP 200");
	expect_result(&limits, 0.2, PROBE_PASSING, PROBE_PASSING, "slower than 100ms; HTTP 200");
	expect_result(&limits, 0.6, PROBE_PASSING, PROBE_WARNING, "slower than 500ms; HTTP 200");
	expect_result(&limits, 3, PROBE_PASSING, PROBE_CRITICAL, "slower than 2s; HTTP 200");
	expect_result(&limits, 0.2, PROBE_WARNING, PROBE_WARNING, "slower than 100ms; HTTP 200");
	expect_result(&limits, 3, PROBE_CRITICAL, PROBE_CRITICAL, "cannot connect: HTTP 200");
}

static void expect_text(enum probe_status result, enum probe_status state, enum probe_status cap,
	const char *line, const char *expected)
{
	const struct threshold_state decided = {
		.decided = true, .has_status = true, .status = state};
	struct verdict verdict = {.result = result, .line = xstrdup(line)};
	struct output output = {0};
	char *text;

	output_append(&output, "body", 4);
	text = verdict_text(&verdict, &decided, cap, &output);
	assert_string_equal(text, expected);
	free(text);
	output_clear(&output);
	verdict_finish(&verdict);
}

static void the_text_says_what_is_not_claimed(void **unused)
{
	(void)unused;
	expect_text(PROBE_PASSING, PROBE_PASSING, PROBE_CRITICAL, "HTTP 200", "HTTP 200\nbody");
	expect_text(PROBE_CRITICAL, PROBE_CRITICAL, PROBE_CRITICAL, "", "body");
	expect_text(PROBE_CRITICAL, PROBE_PASSING, PROBE_CRITICAL, "timed out after 2s",
		"not yet confirmed: critical: timed out after 2s\nbody");
	expect_text(PROBE_PASSING, PROBE_CRITICAL, PROBE_CRITICAL, "",
		"not yet confirmed: passing\nbody");
	expect_text(PROBE_CRITICAL, PROBE_CRITICAL, PROBE_PASSING, "HTTP 500",
		"not counted: critical: HTTP 500\nbody");
	expect_text(PROBE_CRITICAL, PROBE_CRITICAL, PROBE_WARNING, "HTTP 500",
		"not counted: critical: HTTP 500\nbody");
}

static void the_cap_bounds_the_claim(void **unused)
{
	const struct threshold_state critical = {.status = PROBE_CRITICAL};
	const struct threshold_state passing = {.status = PROBE_PASSING};

	(void)unused;
	assert_int_equal(verdict_status(&critical, PROBE_CRITICAL), PROBE_CRITICAL);
	assert_int_equal(verdict_status(&critical, PROBE_WARNING), PROBE_WARNING);
	assert_int_equal(verdict_status(&critical, PROBE_PASSING), PROBE_PASSING);
	assert_int_equal(verdict_status(&passing, PROBE_WARNING), PROBE_PASSING);
}

static void expect_first_line(const char *line, const char *captured, const char *expected)
{
	struct verdict verdict = {.line = xstrdup(line)};
	struct output output = {0};
	char *text;

	output_append(&output, captured, strlen(captured));
	text = verdict_first_line(&verdict, &output);
	assert_string_equal(text, expected);
	free(text);
	output_clear(&output);
	verdict_finish(&verdict);
}

static void the_first_line_is_ours_or_the_runs(void **unused)
{
	(void)unused;
	expect_first_line("HTTP 200", "body\nmore", "HTTP 200");
	expect_first_line("", "disk full\nmore", "disk full");
	expect_first_line("", "no newline", "no newline");
	expect_first_line("", "", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_runs_are_judged_by_the_strictest_limit),
		cmocka_unit_test(the_text_says_what_is_not_claimed),
		cmocka_unit_test(the_cap_bounds_the_claim),
		cmocka_unit_test(the_first_line_is_ours_or_the_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
