// SPDX-License-Identifier: MIT
/* When the service manager may be told that we do our work. */
#include "tests/unit/unit.h"

#include "runner/watchdog.h"

static const struct {
	const char *what;
	double begun, allowance, now, stall_ended;
	bool fed;
} cases[] = {
	{"within its time", 100, 5, 104, 0, true},
	{"at its end", 100, 5, 105, 0, true},
	{"a busy loop is a little late", 100, 5, 105.9, 0, true},
	{"past its end", 100, 5, 106.1, 0, false},
	{"long past its end", 100, 5, 1000, 0, false},
	{"still to begin", 200, 5, 100, 0, true},
	{"cut by a stall: counted from its end", 100, 5, 160, 155, true},
	{"cut by a stall, and not ended in its time after it", 100, 5, 161.1, 155, false},
	{"begun after a stall", 158, 5, 164.1, 155, false},
};

static void each_deadline_is_judged(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct watchdog watchdog = {
			.now = cases[i].now, .stall_ended = cases[i].stall_ended};

		watchdog_note(&watchdog, cases[i].begun, cases[i].allowance);
		if (watchdog_is_fed(&watchdog) != cases[i].fed)
			fail_msg("%s", cases[i].what);
	}
}

static void nothing_to_do_is_fine(void **state)
{
	const struct watchdog watchdog = {.now = 100};

	(void)state;
	assert_true(watchdog_is_fed(&watchdog));
}

static void one_that_is_late_is_enough(void **state)
{
	struct watchdog watchdog = {.now = 100};

	(void)state;
	watchdog_note(&watchdog, 99, 5);
	watchdog_note(&watchdog, 50, 5);
	watchdog_note(&watchdog, 99, 5);
	assert_false(watchdog_is_fed(&watchdog));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_deadline_is_judged),
		cmocka_unit_test(nothing_to_do_is_fine),
		cmocka_unit_test(one_that_is_late_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
