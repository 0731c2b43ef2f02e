// SPDX-License-Identifier: MIT
/* What a script's configuration may say, and what is made of it at load. */
#include "tests/unit/script_bench.h"

#include <pwd.h>
#include <unistd.h>

static void refuse(struct script_conf conf, const char *wanted)
{
	assert_false(check(&conf));
	assert_non_null(strstr(complaint, wanted));
}

static void test_what_a_configuration_may_not_say(void **state)
{
	const char *const fine[] = {"/bin/true", NULL};
	const char *const relative[] = {"bin/true", NULL};
	const char *const empty[] = {"", NULL};
	const char *const none[] = {NULL};
	const struct conf_pair pairs[] = {{.name = "PROBITY_RUN"}, {.name = "A=B"}, {.name = ""},
		{.name = "PROBITY_RUNS"}, {.name = "PROBITY"}};
	struct script_conf conf = command_conf(fine);

	(void)state;
	assert_true(check(&conf));
	conf.shell = "exit 0";
	refuse(conf, "exactly one of");
	refuse(command_conf(none), "exactly one of");
	refuse(command_conf(relative), "'bin/true' is relative");
	refuse(command_conf(empty), "empty");
	refuse(shell_conf(""), "empty");
	conf = command_conf(fine);
	conf.user = "no-such-user";
	refuse(conf, "no user 'no-such-user'");
	conf.user = NULL;
	conf.group = "no-such-group";
	refuse(conf, "no group 'no-such-group'");
	conf.group = NULL;
	conf.env.count = 1;
	for (size_t i = 0; i < 3; i++) {
		conf.env.items = &pairs[i];
		refuse(conf, i == 0 ? "is set by probity" : "cannot be the name");
	}
	conf.env = (struct conf_pairs){.items = &pairs[3], .count = 2};
	assert_true(check(&conf));
}

static void test_users_are_resolved_at_load(void **state)
{
	struct script_conf conf = shell_conf("exit 0");
	const struct passwd *own = getpwuid(geteuid());

	(void)state;
	assert_true(check(&conf));
	assert_false(conf.set_ids);
	assert_int_equal(conf.uid, geteuid());
	if (own != NULL)
		assert_string_equal(conf.login, own->pw_name);
	conf.user = "nobody";
	if (geteuid() != 0) {
		refuse(conf, "only root can run a script as another user");
		return;
	}
	assert_true(check(&conf));
	assert_true(conf.set_ids);
	assert_int_equal(conf.uid, 65534);
	assert_int_equal(conf.gid, 65534);
	assert_int_equal(conf.group_count, 1);
	assert_string_equal(conf.home, "/nonexistent");
	conf.user = "65534";
	conf.group = "1";
	conf.shell = "id -u; id -g; echo $USER";
	assert_true(check(&conf));
	assert_string_equal(conf.login, "nobody");
	assert_int_equal(conf.gid, 1);
	run(&conf, PROBE_PASSING, "65534\n1\nnobody");
}

static void test_the_target_shows_no_arguments(void **state)
{
	const char *const words[] = {"/bin/login", "-p", "S3CRET", NULL};
	const char *const alone[] = {"/bin/true", NULL};
	struct script_conf confs[] = {
		command_conf(words), command_conf(alone), shell_conf("echo S3CRET")};
	static const char *const wanted[] = {"/bin/login ...", "/bin/true", "/bin/sh -c ..."};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char *target;

		assert_true(check(&confs[i]));
		target = probe_script.target(&confs[i]);
		assert_string_equal(target, wanted[i]);
		free(target);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_configuration_may_not_say),
		cmocka_unit_test(test_users_are_resolved_at_load),
		cmocka_unit_test(test_the_target_shows_no_arguments),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
