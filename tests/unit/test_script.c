// SPDX-License-Identifier: MIT
/* One run of a script: what its end or its failure to start means. */
#include "tests/unit/script_bench.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

static int clone_error;
int __real_clone(int (*function)(void *), void *stack, int flags, void *argument, ...);
int __wrap_clone(int (*function)(void *), void *stack, int flags, void *argument, ...);

int __wrap_clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	if (clone_error != 0) {
		errno = clone_error;
		return -1;
	}
	return __real_clone(function, stack, flags, argument);
}

static void test_outcomes(void **state)
{
	static const struct {
		const char *text;
		enum probe_status status;
		const char *wanted;
	} rows[] = {
		{"echo fine", PROBE_PASSING, "fine"},
		{"exit 0", PROBE_PASSING, ""},
		{"echo so so; exit 1", PROBE_WARNING, "so so"},
		{"echo bad >&2; exit 2", PROBE_CRITICAL, "bad"},
		{"exit 3", PROBE_CRITICAL, "exit code 3, no output"},
		{"echo x; kill -HUP $$", PROBE_CRITICAL, "killed by signal 1 (HUP)\nx"},
		{"kill -40 $$", PROBE_CRITICAL, "killed by signal 40"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct script_conf conf = shell_conf(rows[i].text);

		assert_true(check(&conf));
		run(&conf, rows[i].status, rows[i].wanted);
	}
}

static void test_a_bare_name_is_looked_up_and_never_taken_from_the_folder(void **state)
{
	const char *const known[] = {"echo", "a", "b  c", NULL};
	const char *const unknown[] = {"no-such-program", NULL};
	const char *const here[] = {"sh", "-c", "exit 0", NULL};
	const struct conf_pair path = {.name = "PATH", .value = {.value = "/nowhere"}};
	struct script_conf conf = command_conf(known);

	(void)state;
	assert_true(check(&conf));
	run(&conf, PROBE_PASSING, "a b  c");
	conf = command_conf(unknown);
	assert_true(check(&conf));
	run(&conf, PROBE_CRITICAL, "cannot start: no-such-program: not found in PATH");
	conf = command_conf(here);
	conf.cwd = "/bin";
	conf.env = (struct conf_pairs){.items = &path, .count = 1};
	assert_true(check(&conf));
	run(&conf, PROBE_CRITICAL, "cannot start: sh: not found in PATH");
}

static void test_failed_starts_say_whose_fault_it_is(void **state)
{
	const char *const missing[] = {"/nowhere/script", NULL};
	const struct conf_pair secret = {.name = "S", .value = {.file = "/nowhere/secret"}};
	struct script_conf conf = command_conf(missing);

	(void)state;
	assert_true(check(&conf));
	run(&conf, PROBE_CRITICAL, "cannot start: /nowhere/script: No such file or directory");
	conf = shell_conf("exit 0");
	assert_true(check(&conf));
	clone_error = EAGAIN;
	run(&conf, PROBE_CRITICAL, "local: cannot start: fork: Resource temporarily unavailable");
	clone_error = EPERM;
	run(&conf, PROBE_CRITICAL, "cannot start: fork: Operation not permitted");
	clone_error = 0;
	conf.cwd = "/nowhere";
	run(&conf, PROBE_CRITICAL, "cannot start: cwd /nowhere: No such file or directory");
	conf.cwd = "/";
	conf.env = (struct conf_pairs){.items = &secret, .count = 1};
	run(&conf, PROBE_CRITICAL,
		"cannot read secret: /nowhere/secret: No such file or directory");
}

static void test_a_missing_interpreter_is_not_a_missing_script(void **state)
{
	const char *const *none = (const char *const[]){NULL};
	char path[] = "/tmp/probity-script-XXXXXX";
	const char *const items[] = {path, NULL};
	struct script_conf conf = command_conf(none);
	char *wanted;
	int fd = mkostemp(path, O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "#!/nowhere/sh\n", 14), 14);
	assert_int_equal(fchmod(fd, 0755), 0);
	assert_int_equal(close(fd), 0);
	conf = command_conf(items);
	conf.argv = conf.command;
	conf.home = conf.login = "x";
	if (geteuid() == 0) {
		/* Not even in a sticky folder, where others cannot touch it. */
		assert_false(check(&conf));
		assert_non_null(strstr(complaint, "unsafe permissions: /tmp is mode 1777"));
		run(&conf, PROBE_CRITICAL, "unsafe permissions: /tmp is mode 1777");
	} else {
		wanted = xprintf("cannot start: %s: No such file or directory (the interpreter in "
				 "its first line)",
			path);
		run(&conf, PROBE_CRITICAL, wanted);
		free(wanted);
	}
	(void)unlink(path);
}

static void wait_nothing_remains(void)
{
	for (int i = 0; i < 2000 && remains_count(remains) > 0; i++)
		turn(0.01);
	assert_int_equal(remains_count(remains), 0);
}

static void test_expire_and_cancel(void **state)
{
	struct script_conf conf = shell_conf("echo up; sleep 60 & exit 1");
	struct outcome outcome = {0};
	struct probe *probe;

	(void)state;
	assert_true(check(&conf));
	probe = start(&conf, &outcome);
	/* Reaped, its pipe still held: the deadline does not take its verdict away. */
	while (!probe_expire(probe))
		turn(0.005);
	assert_false(finished);
	assert_int_equal(outcome.status, PROBE_WARNING);
	probe_destroy(probe);
	outcome_clear(&outcome);
	wait_nothing_remains();

	conf = shell_conf("echo up; exec sleep 60");
	assert_true(check(&conf));
	probe = start(&conf, &outcome);
	turn(0.12);
	assert_false(probe_expire(probe));
	probe_destroy(probe);
	assert_int_equal(remains_count(remains), 1);
	wait_nothing_remains();
	assert_false(finished);
	outcome_clear(&outcome);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_a_bare_name_is_looked_up_and_never_taken_from_the_folder),
		cmocka_unit_test(test_failed_starts_say_whose_fault_it_is),
		cmocka_unit_test(test_a_missing_interpreter_is_not_a_missing_script),
		cmocka_unit_test(test_expire_and_cancel),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
