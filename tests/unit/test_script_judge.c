// SPDX-License-Identifier: MIT
/* What the end of a script means, for every exit code and every signal. */
#include "unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "probes/script.h"
#include "tests/unit/no_loader.h"

static struct script_conf conf;

static int set_up(void **state)
{
	(void)state;
	conf = (struct script_conf){.passing_exit = {{1U << 0}}, .warning_exit = {{1U << 1}}};
	return 0;
}

static void expect(
	enum child_end end, int value, bool said, enum probe_status status, const char *text)
{
	struct script_verdict verdict = script_judge(&conf, end, value, said);

	assert_int_equal(verdict.status, status);
	assert_int_equal(verdict.reason, end == CHILD_KILLED ? REASON_SIGNAL : REASON_NONE);
	if (text == NULL)
		assert_null(verdict.text);
	else
		assert_string_equal(verdict.text, text);
	free(verdict.text);
}

static void test_exit_codes_by_default(void **state)
{
	(void)state;
	for (int code = 0; code <= 255; code++)
		expect(CHILD_EXITED, code, true,
			code == 0           ? PROBE_PASSING
				: code == 1 ? PROBE_WARNING
					    : PROBE_CRITICAL,
			NULL);
	expect(CHILD_EXITED, 0, false, PROBE_PASSING, NULL);
	expect(CHILD_EXITED, 1, false, PROBE_WARNING, "exit code 1, no output");
	expect(CHILD_EXITED, 255, false, PROBE_CRITICAL, "exit code 255, no output");
}

static void test_exit_codes_by_their_sets(void **state)
{
	(void)state;
	conf.passing_exit = (struct code_set){{1U << 2}};
	conf.warning_exit = (struct code_set){0};
	code_set_add(&conf.warning_exit, 255);
	for (int code = 0; code <= 255; code++)
		expect(CHILD_EXITED, code, true,
			code == 2             ? PROBE_PASSING
				: code == 255 ? PROBE_WARNING
					      : PROBE_CRITICAL,
			NULL);
	expect(CHILD_EXITED, 2, false, PROBE_PASSING, NULL);
	expect(CHILD_EXITED, 0, false, PROBE_CRITICAL, "exit code 0, no output");
}

/* Signal 1 is not exit code 1, whatever the sets hold. */
static void test_no_signal_is_anything_but_critical(void **state)
{
	(void)state;
	memset(&conf.passing_exit, 0xff, sizeof(conf.passing_exit));
	for (int number = 1; number <= 64; number++) {
		struct script_verdict verdict = script_judge(&conf, CHILD_KILLED, number, true);

		assert_int_equal(verdict.status, PROBE_CRITICAL);
		assert_int_equal(verdict.reason, REASON_SIGNAL);
		assert_non_null(verdict.text);
		free(verdict.text);
	}
	expect(CHILD_KILLED, SIGHUP, true, PROBE_CRITICAL, "1 (HUP)");
	expect(CHILD_KILLED, 40, true, PROBE_CRITICAL, "40");
}

static void test_the_cpu_limit_is_named_where_it_can_be_the_cause(void **state)
{
	(void)state;
	expect(CHILD_KILLED, SIGXCPU, true, PROBE_CRITICAL, "24 (XCPU)");
	conf.limits.cpu = 90;
	expect(CHILD_KILLED, SIGXCPU, true, PROBE_CRITICAL, "24 (XCPU), its CPU limit of 1m30s");
	expect(CHILD_KILLED, SIGKILL, true, PROBE_CRITICAL,
		"9 (KILL), perhaps its CPU limit of 1m30s");
	expect(CHILD_KILLED, SIGTERM, true, PROBE_CRITICAL, "15 (TERM)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_exit_codes_by_default, set_up),
		cmocka_unit_test_setup(test_exit_codes_by_their_sets, set_up),
		cmocka_unit_test_setup(test_no_signal_is_anything_but_critical, set_up),
		cmocka_unit_test_setup(
			test_the_cpu_limit_is_named_where_it_can_be_the_cause, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
