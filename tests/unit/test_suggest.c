// SPDX-License-Identifier: MIT
/* One slip finds its key; other words find none. */
#include "unit.h"

#include <string.h>

#include "config/suggest.h"

static const char *const keys[] = {"name", "id", "http", "tcp", "script", "interval",
	"retry_interval", "timeout", "ttl", "node", "command", "environment", "depends_on",
	"max_status", "failures_before_critical", "failures_before_warning"};

static const char *nearest(const char *typed)
{
	struct suggest suggest;

	suggest_init(&suggest, typed);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		suggest_try(&suggest, keys[i]);
	return suggest_result(&suggest);
}

static void test_slips_find_their_key(void **state)
{
	static const char *const slips[][2] = {{"intervall", "interval"}, {"intrval", "interval"},
		{"itnerval", "interval"}, {"interwal", "interval"},
		{"retry-interval", "retry_interval"}, {"timout", "timeout"}, {"ttp", "http"},
		{"tpc", "tcp"}, {"scirpt", "script"}, {"maxstatus", "max_status"}, {"Name", "name"},
		{"env", "environment"}, {"depends", "depends_on"},
		{"failures_before_critcal", "failures_before_critical"}, {"di", "id"}};

	(void)state;
	for (size_t i = 0; i < sizeof(slips) / sizeof(*slips); i++) {
		assert_non_null(nearest(slips[i][0]));
		assert_string_equal(nearest(slips[i][0]), slips[i][1]);
	}
}

static void test_other_words_find_none(void **state)
{
	static const char *const words[] = {"", "x", "i", "password", "weight", "url",
		"failures_before_",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"zzz"};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		assert_null(nearest(words[i]));
}

static void test_the_nearest_wins_and_the_first_of_equals(void **state)
{
	struct suggest suggest;

	(void)state;
	suggest_init(&suggest, "bar");
	suggest_try(&suggest, "bat");
	suggest_try(&suggest, "car");
	assert_string_equal(suggest_result(&suggest), "bat");
	suggest_try(&suggest, "bar");
	assert_string_equal(suggest_result(&suggest), "bar");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slips_find_their_key),
		cmocka_unit_test(test_other_words_find_none),
		cmocka_unit_test(test_the_nearest_wins_and_the_first_of_equals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
