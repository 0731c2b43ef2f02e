// SPDX-License-Identifier: MIT
/* Stalls, on a clock that the test moves. */
#include "tests/unit/unit.h"

#include "probes/clock.h"
#include "runner/stall.h"

static double shift, sleep_lead;

double __real_clock_monotonic(void);
double __wrap_clock_monotonic(void);
double __wrap_clock_boot(void);

double __wrap_clock_monotonic(void)
{
	return __real_clock_monotonic() + shift;
}

double __wrap_clock_boot(void)
{
	return __wrap_clock_monotonic() + sleep_lead + 1000;
}

static struct {
	unsigned int noticed, settled, ordinary;
	unsigned int ordinary_at_notice, ordinary_at_settle;
	double seconds;
} seen;

static void on_noticed(void *owner, double seconds)
{
	(void)owner;
	seen.noticed++;
	seen.seconds = seconds;
	seen.ordinary_at_notice = seen.ordinary;
}

static void on_settled(void *owner, double ended)
{
	(void)owner;
	assert_true(ended <= clock_monotonic());
	seen.settled++;
	seen.ordinary_at_settle = seen.ordinary;
}

static void on_ordinary(struct ev_loop *loop, ev_timer *watcher, int events)
{
	(void)loop;
	(void)watcher;
	(void)events;
	seen.ordinary++;
}

/* Passes over one timer that is due at once, after `prepare` moved a clock. */
static void pass_with(double shift_by, double sleep_by)
{
	struct ev_loop *loop = ev_default_loop(0);
	struct stall stall = {.noticed = on_noticed, .settled = on_settled};
	ev_timer ordinary;

	shift = sleep_lead = 0;
	seen = (__typeof__(seen)){0};
	stall_start(&stall, loop);
	ev_run(loop, EVRUN_NOWAIT);
	assert_int_equal(seen.noticed, 0);
	ev_timer_init(&ordinary, on_ordinary, 0, 0);
	ev_timer_start(loop, &ordinary);
	shift += shift_by;
	sleep_lead += sleep_by;
	ev_run(loop, EVRUN_NOWAIT);
	ev_run(loop, EVRUN_NOWAIT);
	ev_run(loop, EVRUN_NOWAIT);
	stall_stop(&stall);
	ev_timer_stop(loop, &ordinary);
}

static void a_stopped_process_is_noticed_once(void **unused)
{
	(void)unused;
	pass_with(3, 0);
	assert_int_equal(seen.noticed, 1);
	assert_int_equal(seen.settled, 1);
	assert_true(seen.seconds > 2);
}

static void notice_comes_before_and_settling_after_what_was_pending(void **unused)
{
	(void)unused;
	pass_with(3, 0);
	assert_int_equal(seen.ordinary, 1);
	assert_int_equal(seen.ordinary_at_notice, 0);
	assert_int_equal(seen.ordinary_at_settle, 1);
}

static void suspend_is_a_stall(void **unused)
{
	(void)unused;
	pass_with(0, 5);
	assert_int_equal(seen.noticed, 1);
	assert_int_equal(seen.settled, 1);
}

static void a_little_late_is_no_stall(void **unused)
{
	(void)unused;
	pass_with(0.4, 0.5);
	assert_int_equal(seen.noticed, 0);
	assert_int_equal(seen.settled, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stopped_process_is_noticed_once),
		cmocka_unit_test(notice_comes_before_and_settling_after_what_was_pending),
		cmocka_unit_test(suspend_is_a_stall),
		cmocka_unit_test(a_little_late_is_no_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
