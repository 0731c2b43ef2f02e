// SPDX-License-Identifier: MIT
/* The watch between runs: what wakes the check, and when a watch that failed is opened again. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "probes/grpc_call.h"
#include "probes/grpc_watch.h"
#include "probes/notice.h"

static struct grpc_call *call; /* the open one; NULL: none is */
static unsigned int starts, wakes, notices;
static long code;
static double now;

void grpc_call_start(struct grpc_call *started, const struct grpc_call_setup *setup)
{
	assert_null(call);
	assert_string_equal(setup->method, "Watch");
	assert_true(setup->timeout <= 0);
	call = started;
	call->setup = *setup;
	starts++;
}

void grpc_call_finish(struct grpc_call *finished)
{
	call = NULL;
	*finished = (struct grpc_call){0};
}

long grpc_answer_code(const struct grpc_answer *answer)
{
	(void)answer;
	return code;
}

double clock_monotonic(void)
{
	return now;
}

void notice(const char *format, ...)
{
	assert_non_null(strstr(format, "cannot be watched"));
	notices++;
}

static void on_wake(void *owner)
{
	assert_ptr_equal(owner, &wakes);
	wakes++;
}

static struct probe_watch *start(bool watch)
{
	static struct grpc_conf conf;

	conf.watch = watch;
	starts = wakes = notices = 0;
	code = -1;
	return grpc_watch_start(&(struct probe_watch_setup){
		.conf = &conf,
		.loop = EV_DEFAULT,
		.name = "web",
		.wake = on_wake,
		.owner = &wakes,
	});
}

static void say(void)
{
	call->setup.message(call->setup.owner);
}

static void break_it(void)
{
	call->setup.ended(call->setup.owner,
		(struct grpc_verdict){PROBE_CRITICAL, REASON_CUT, xstrdup("closed")});
}

static void only_who_asks_is_watched(void **state)
{
	(void)state;
	assert_null(start(false));
	assert_int_equal(starts, 0);
	grpc_watch_stop(NULL);
}

static void messages_wake_but_the_first(void **state)
{
	struct probe_watch *watch = start(true);

	(void)state;
	say();
	assert_int_equal(wakes, 0);
	say();
	say();
	assert_int_equal(wakes, 2);
	/* The end of one that was open, and the first of the next. */
	break_it();
	assert_int_equal(wakes, 3);
	assert_null(call);
	ev_run(EV_DEFAULT, EVRUN_ONCE);
	assert_int_equal(starts, 2);
	say();
	assert_int_equal(wakes, 4);
	grpc_watch_stop(watch);
	assert_null(call);
}

static void one_that_never_opened_wakes_nobody(void **state)
{
	struct probe_watch *watch = start(true);

	(void)state;
	break_it();
	assert_int_equal(wakes, 0);
	grpc_watch_stop(watch);
	assert_int_equal(starts, 1);
}

static void not_implemented_is_for_good(void **state)
{
	struct probe_watch *watch = start(true);

	(void)state;
	code = GRPC_UNIMPLEMENTED;
	break_it();
	assert_int_equal(notices, 1);
	/* Nothing is left that the loop could wait for. */
	assert_false(ev_run(EV_DEFAULT, 0));
	assert_int_equal(starts, 1);
	grpc_watch_stop(watch);
}

static void delays_grow_to_a_limit(void **state)
{
	static const double wanted[] = {1, 2, 4, 8, 16, 30, 30};

	(void)state;
	for (unsigned int i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		assert_true(grpc_watch_delay(i + 1) >= wanted[i] &&
			grpc_watch_delay(i + 1) <= wanted[i]);
	assert_true(grpc_watch_delay(1000) <= 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_who_asks_is_watched),
		cmocka_unit_test(messages_wake_but_the_first),
		cmocka_unit_test(one_that_never_opened_wakes_nobody),
		cmocka_unit_test(not_implemented_is_for_good),
		cmocka_unit_test(delays_grow_to_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
