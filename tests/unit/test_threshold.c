// SPDX-License-Identifier: MIT
/* The hysteresis, against sequences written out and against a slow model over all short ones. */
#include "tests/unit/unit.h"

#include <string.h>

#include "runner/threshold.h"

static enum probe_status result_of(char letter)
{
	return letter == 'P' ? PROBE_PASSING : letter == 'W' ? PROBE_WARNING : PROBE_CRITICAL;
}

static char letter_of(const struct threshold_state *state)
{
	return state->decided ? "PWC"[state->status] : '-';
}

/* results: P passing, W warning, F failure, L local failure; expected: a letter per result. */
static void expect(const struct threshold_conf *conf, struct threshold_state state,
	const char *results, const char *expected)
{
	assert_int_equal(strlen(results), strlen(expected));
	for (size_t i = 0; results[i] != '\0'; i++) {
		threshold_apply(conf, &state, result_of(results[i]), results[i] == 'L');
		if (letter_of(&state) != expected[i])
			fail_msg("%s: after %zu results '%c', wanted '%c'", results, i + 1,
				letter_of(&state), expected[i]);
	}
}

static void counters_are_reset_each_time(void **unused)
{
	const struct threshold_conf conf = {2, 3, 3};

	(void)unused;
	expect(&conf, (struct threshold_state){0}, "PPFFPFFPFFFPFPPFFP", "-PPPPPPPPPCCCCPPPP");
}

static void nth_means_nth(void **unused)
{
	(void)unused;
	expect(&(struct threshold_conf){1, 3, 3}, (struct threshold_state){0}, "PFFFF", "PPPCC");
	expect(&(struct threshold_conf){1, 1, 1}, (struct threshold_state){0}, "PFFP", "PCCP");
}

static void undecided_until_one_side_is_met(void **unused)
{
	(void)unused;
	expect(&(struct threshold_conf){2, 2, 2}, (struct threshold_state){0}, "PFPFF", "----C");
	expect(&(struct threshold_conf){3, 2, 4}, (struct threshold_state){0}, "FFFF", "-WWC");
}

static void warning_lies_between(void **unused)
{
	(void)unused;
	expect(&(struct threshold_conf){1, 2, 4}, (struct threshold_state){0}, "PFFFFP", "PPWWCP");
}

static void failure_never_improves_critical(void **unused)
{
	(void)unused;
	expect(&(struct threshold_conf){2, 1, 3}, (struct threshold_state){0}, "FFFPFPFF",
		"WWCCCCCC");
}

static void warning_counts_as_success(void **unused)
{
	(void)unused;
	expect(&(struct threshold_conf){3, 1, 1}, (struct threshold_state){0}, "FWWWP", "CCCWP");
	expect(&(struct threshold_conf){1, 1, 1}, (struct threshold_state){0}, "PWPWF", "PWPWC");
}

static void local_failure_counts_from_the_second(void **unused)
{
	(void)unused;
	expect(&(struct threshold_conf){1, 1, 1}, (struct threshold_state){0}, "PLPLLP", "PPPPCP");
	expect(&(struct threshold_conf){1, 2, 2}, (struct threshold_state){0}, "PLLLP", "PPPCP");
	expect(&(struct threshold_conf){1, 1, 1}, (struct threshold_state){0}, "LL", "-C");
}

static void restart_neither_flaps_nor_forgives(void **unused)
{
	const struct threshold_conf conf = {2, 3, 3};
	struct threshold_state passing = {.has_status = true, .successes = 2};
	struct threshold_state failing = {.has_status = true, .failures = 2};
	struct threshold_state critical = {
		.has_status = true, .status = PROBE_CRITICAL, .failures = 3};

	(void)unused;
	expect(&conf, passing, "PP", "PP");
	expect(&conf, passing, "FFF", "--C");
	expect(&conf, failing, "F", "C");
	expect(&conf, critical, "F", "C");
	expect(&conf, critical, "PP", "-P");
}

static void first_local_failure_is_said_to_be_ignored(void **unused)
{
	const struct threshold_conf conf = {1, 1, 1};
	struct threshold_state state = {0};

	(void)unused;
	assert_int_equal(threshold_apply(&conf, &state, PROBE_PASSING, false), THRESHOLD_STANDS);
	assert_int_equal(threshold_apply(&conf, &state, PROBE_CRITICAL, true), THRESHOLD_IGNORED);
	assert_int_equal(threshold_apply(&conf, &state, PROBE_CRITICAL, true), THRESHOLD_STANDS);
}

static void unconfirmed_asks_for_the_retry(void **unused)
{
	const struct threshold_conf conf = {2, 3, 3};
	struct threshold_state state = {0};
	static const struct {
		char result;
		enum threshold_effect effect;
	} rows[] = {
		{'P', THRESHOLD_UNCONFIRMED},
		{'P', THRESHOLD_STANDS},
		{'F', THRESHOLD_UNCONFIRMED},
		{'P', THRESHOLD_STANDS}, /* back to what is claimed: nothing to confirm */
		{'F', THRESHOLD_UNCONFIRMED},
		{'F', THRESHOLD_UNCONFIRMED},
		{'F', THRESHOLD_STANDS},
		{'F', THRESHOLD_STANDS},
		{'P', THRESHOLD_UNCONFIRMED},
		{'F', THRESHOLD_STANDS},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(threshold_apply(&conf, &state, result_of(rows[i].result), false),
			rows[i].effect);
}

/* The rule in words: the last row of N equal results decides; looks at the whole history. */
static char model(const struct threshold_conf *conf, const char *results, size_t count)
{
	char status = '-';

	for (size_t end = 1; end <= count; end++) {
		bool failed = results[end - 1] == 'F';
		size_t row = 0;

		while (row < end && (results[end - 1 - row] == 'F') == failed)
			row++;
		if (!failed && row >= conf->success_before_passing)
			status = results[end - 1];
		else if (failed && row >= conf->failures_before_critical)
			status = 'C';
		else if (failed && row >= conf->failures_before_warning && status != 'C')
			status = 'W';
	}
	return status;
}

static void all_short_sequences_agree_with_the_model(void **unused)
{
	char results[8] = {0};

	(void)unused;
	for (unsigned int code = 0; code < 3 * 3 * 3 * 3 * 3 * 3 * 3 * 27; code++) {
		struct threshold_conf conf = {1 + code % 3, 1 + code / 3 % 3, 1 + code / 9 % 3};
		struct threshold_state state = {0};
		unsigned int rest = code / 27;

		if (conf.failures_before_warning > conf.failures_before_critical)
			continue;
		for (size_t i = 0; i < 7; i++, rest /= 3) {
			results[i] = "PWF"[rest % 3];
			threshold_apply(&conf, &state, result_of(results[i]), false);
			assert_int_equal(letter_of(&state), model(&conf, results, i + 1));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_are_reset_each_time),
		cmocka_unit_test(nth_means_nth),
		cmocka_unit_test(undecided_until_one_side_is_met),
		cmocka_unit_test(warning_lies_between),
		cmocka_unit_test(failure_never_improves_critical),
		cmocka_unit_test(warning_counts_as_success),
		cmocka_unit_test(local_failure_counts_from_the_second),
		cmocka_unit_test(restart_neither_flaps_nor_forgives),
		cmocka_unit_test(first_local_failure_is_said_to_be_ignored),
		cmocka_unit_test(unconfirmed_asks_for_the_retry),
		cmocka_unit_test(all_short_sequences_agree_with_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
