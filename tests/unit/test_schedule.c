// SPDX-License-Identifier: MIT
/* Ticks, grid, retries and starts: arithmetic on made-up times. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>

#include "runner/schedule.h"

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-6)

static void ticks_do_not_drift(void **unused)
{
	double tick = 3.25;

	(void)unused;
	for (int i = 1; i <= 1000; i++) {
		/* Each run ends somewhere inside its interval. */
		tick = schedule_tick(0.25, 1, tick + 0.3 + 0.6 * (i % 2));
		assert_near(tick, 3.25 + i);
	}
}

static void a_tick_is_never_now(void **unused)
{
	(void)unused;
	assert_near(schedule_tick(0.25, 1, 7.25), 8.25);
	for (int i = 0; i < 100000; i++) {
		double now = 1000000.1 + i * 0.1;

		assert_true(schedule_tick(0.07, 0.1, now) > now);
		assert_true(schedule_tick(0.07, 0.1, now) < now + 0.1001);
	}
}

static void missed_ticks_are_counted(void **unused)
{
	(void)unused;
	assert_int_equal(schedule_ticks_between(0.25, 1, 3.25, 3.9), 0);
	assert_int_equal(schedule_ticks_between(0.25, 1, 3.25, 6.3), 3);
	assert_int_equal(schedule_ticks_between(0.25, 1, 6.3, 3.2), 0);
}

static void phase_spreads_and_is_stable(void **unused)
{
	unsigned int buckets[10] = {0};
	char id[32];

	(void)unused;
	for (int i = 0; i < 1000; i++) {
		double phase;

		(void)snprintf(id, sizeof(id), "web:%d", i);
		phase = schedule_phase("host-1", id, 5);
		assert_true(phase >= 0 && phase < 5);
		assert_near(phase, schedule_phase("host-1", id, 5));
		buckets[(int)(phase * 2)]++;
	}
	/* 100 each would be even; 60 is four standard deviations away. */
	for (int i = 0; i < 10; i++)
		assert_in_range(buckets[i], 60, 140);
	assert_true(fabs(schedule_phase("host-1", "a", 5) - schedule_phase("host-2", "a", 5)) > 0);
	assert_true(fabs(schedule_phase("a", "bc", 5) - schedule_phase("ab", "c", 5)) > 0);
}

static void grid_serves_ten_runs_a_wake(void **unused)
{
	(void)unused;
	assert_near(schedule_grid(1), 0.050);
	assert_near(schedule_grid(400), 0.050);
	assert_near(schedule_grid(500), 0.020);
	assert_near(schedule_grid(1000), 0.010);
	assert_near(schedule_grid(10000), 0.005);
}

static void waking_moves_no_tick_and_is_never_early(void **unused)
{
	(void)unused;
	assert_near(schedule_wake(3.21, 0.05, 10), 3.25);
	assert_near(schedule_wake(3.25, 0.05, 10), 3.25);
	/* Never wider than a twentieth of the interval. */
	assert_near(schedule_wake(3.2121, 0.05, 0.1), 3.215);
	for (int i = 0; i < 10000; i++) {
		double tick = 5000 + i * 0.0137;

		assert_true(schedule_wake(tick, 0.02, 1) >= tick);
		assert_true(schedule_wake(tick, 0.02, 1) < tick + 0.0201);
	}
}

static struct schedule_ask ask(bool confirming, bool retry_local)
{
	return (struct schedule_ask){
		.phase = 2,
		.interval = 10,
		.retry_interval = 3,
		.last_due = 12,
		.confirming = confirming,
		.retry_local = retry_local,
	};
}

static void confirming_uses_the_retry_interval(void **unused)
{
	struct schedule_ask confirmed = ask(false, false), confirming = ask(true, false);

	(void)unused;
	assert_near(schedule_next(&confirmed, 12.4), 22);
	assert_near(schedule_next(&confirming, 12.4), 15);
	/* A run that took longer than the retry interval: the next multiple, no catching up. */
	assert_near(schedule_next(&confirming, 16.1), 18);
	/* A retry interval of the whole interval stays on the ticks. */
	confirming.retry_interval = 10;
	confirming.last_due = 12.7;
	assert_near(schedule_next(&confirming, 12.9), 22);
}

static void local_failure_is_tried_again_in_a_second(void **unused)
{
	struct schedule_ask local = ask(false, true);

	(void)unused;
	assert_near(schedule_next(&local, 12.4), 13.4);
	assert_near(schedule_next(&local, 21.5), 22);
}

static void starts_are_spread_unless_the_old_claim_stands(void **unused)
{
	struct schedule_start start = {.phase = 4, .interval = 10, .ttl = 60, .first = true};

	(void)unused;
	assert_near(schedule_first(&start, 100), 100);
	start.first = false;
	assert_near(schedule_first(&start, 100), 100.4);
	start.was_passing = true;
	assert_near(schedule_first(&start, 100), 104);
	start.ttl = 6;
	assert_near(schedule_first(&start, 100), 101);
}

static void after_a_stall_far_ticks_are_brought_near(void **unused)
{
	struct schedule_start start = {.phase = 50, .interval = 300, .ttl = 60};

	(void)unused;
	assert_near(schedule_after_stall(&start, 350, 345), 350);
	assert_near(schedule_after_stall(&start, 350, 100), 100 + 50.0 / 300);
	/* What was due during the stall is not replayed. */
	start.interval = 1;
	start.phase = 0.5;
	assert_near(schedule_after_stall(&start, 90.5, 100), 100.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_do_not_drift),
		cmocka_unit_test(a_tick_is_never_now),
		cmocka_unit_test(missed_ticks_are_counted),
		cmocka_unit_test(phase_spreads_and_is_stable),
		cmocka_unit_test(grid_serves_ten_runs_a_wake),
		cmocka_unit_test(waking_moves_no_tick_and_is_never_early),
		cmocka_unit_test(confirming_uses_the_retry_interval),
		cmocka_unit_test(local_failure_is_tried_again_in_a_second),
		cmocka_unit_test(starts_are_spread_unless_the_old_claim_stands),
		cmocka_unit_test(after_a_stall_far_ticks_are_brought_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
