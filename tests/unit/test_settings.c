// SPDX-License-Identifier: MIT
/* What the settings derive: the instance's name, and how long a result is fresh. */
#include "tests/unit/unit.h"

#include <math.h>

#include "runner/settings.h"

static void expect_instance(const char *path, const char *expected)
{
	struct arena *arena = arena_create();

	assert_string_equal(settings_instance(arena, path), expected);
	arena_destroy(arena);
}

static void files_at_home_are_known_by_their_stem(void **unused)
{
	(void)unused;
	expect_instance("/etc/probity/web.yaml", "web");
	expect_instance("/etc/probity/web.yaml.yaml", "web.yaml");
	expect_instance("/etc/probity/.yaml", ".yaml");
	expect_instance("/etc/probity/conf.d", "conf.d");
}

static void others_are_known_by_their_whole_path(void **unused)
{
	(void)unused;
	expect_instance("/nowhere/web.yaml", "/nowhere/web.yaml");
	expect_instance("/etc/probity/more/web.yaml", "/etc/probity/more/web.yaml");
}

static void a_result_is_fresh_until_the_next_could_not_be_later(void **unused)
{
	const struct check_conf check = {
		.interval = 10, .retry_interval = 2, .timeout = 4, .kill_grace = 1};

	(void)unused;
	assert_true(fabs(settings_fresh_for(&check) - 16) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_at_home_are_known_by_their_stem),
		cmocka_unit_test(others_are_known_by_their_whole_path),
		cmocka_unit_test(a_result_is_fresh_until_the_next_could_not_be_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
