// SPDX-License-Identifier: MIT
/* Limits on a time: which one is broken, and in which order they may stand. */
#include "unit.h"

#include "probes/time_limits.h"
#include "tests/unit/config_bench.h"

struct row {
	struct time_limits lag;
};

static const struct conf_field rows[] = {
	TIME_LIMITS(struct row, lag, .shorthand = "critical", .help = "Lag"),
	{0},
};

static void the_strictest_that_is_broken_counts(void **state)
{
	const struct time_limits limits = {.note = 1, .warning = 2, .critical = 3}, none = {0};
	enum probe_status status = PROBE_WARNING;

	(void)state;
	assert_true(time_limits_broken(&limits, 1, &status) <= 0);
	assert_true(time_limits_broken(&none, 1e9, &status) <= 0);
	assert_int_equal(status, PROBE_WARNING);
	assert_int_equal((int)time_limits_broken(&limits, 1.5, &status), 1);
	assert_int_equal(status, PROBE_PASSING);
	assert_int_equal((int)time_limits_broken(&limits, 3, &status), 2);
	assert_int_equal(status, PROBE_WARNING);
	assert_int_equal((int)time_limits_broken(&limits, 3.5, &status), 3);
	assert_int_equal(status, PROBE_CRITICAL);
}

static void milder_limits_come_first(void **state)
{
	struct bench bench;
	struct row row = {{0}};

	(void)state;
	bench_open(&bench);
	assert_true(bench_load(&bench, rows, "lag: {note: 1s, critical: 3s}\n", &row));
	assert_int_equal((int)row.lag.note, 1);
	row = (struct row){{0}};
	assert_true(bench_load(&bench, rows, "lag: 5s\n", &row));
	assert_int_equal((int)row.lag.critical, 5);
	bench_expect(&bench, rows, "lag: {warning: 3s, critical: 1s}\n",
		"1:30: critical must not be shorter than the milder limits before it\n");
	bench_close(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_strictest_that_is_broken_counts),
		cmocka_unit_test(milder_limits_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
