// SPDX-License-Identifier: MIT
/* A child that cannot be started says which step failed and why, and leaks nothing. */
#include "tests/unit/child_bench.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/stat.h>

static bool clone_fails;
static unsigned int clones;

int __real_clone(int (*function)(void *), void *stack, int flags, void *argument, ...);
int __wrap_clone(int (*function)(void *), void *stack, int flags, void *argument, ...);

int __wrap_clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	clones++;
	if (clone_fails) {
		errno = EAGAIN;
		return -1;
	}
	return __real_clone(function, stack, flags, argument);
}

static bool pipe_fails;
int __real_pipe2(int *ends, int flags);
int __wrap_pipe2(int *ends, int flags);

int __wrap_pipe2(int *ends, int flags)
{
	if (pipe_fails) {
		errno = EMFILE;
		return -1;
	}
	return __real_pipe2(ends, flags);
}

static char folder[64], file_path[128];

static void write_file(const char *text, mode_t mode)
{
	int fd = open(file_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(close(fd), 0);
}

static unsigned int count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned int count = 0;

	while (readdir(directory) != NULL)
		count++;
	(void)closedir(directory);
	return count;
}

static void check_failure(const struct child_spec *spec, const char *step, int error)
{
	unsigned int before = count_descriptors();
	struct seen seen;

	start(&seen, spec, NULL);
	wait_over(&seen);
	assert_int_equal(seen.ends, 0);
	assert_int_equal(seen.failures, 1);
	assert_string_equal(seen.step, step);
	assert_int_equal(seen.error, error);
	forget(&seen);
	assert_int_equal(child_count(), 0);
	assert_int_equal(count_descriptors(), before);
}

static void test_what_cannot_be_executed_says_why(void **state)
{
	const char *const argv[] = {"it", NULL};
	struct child_spec spec = {.path = file_path, .argv = argv, .envp = environment};

	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/probity-child-XXXXXX");
	assert_non_null(mkdtemp(folder));
	(void)snprintf(file_path, sizeof(file_path), "%s/script", folder);
	check_failure(&spec, "execve", ENOENT);
	write_file("#!/bin/sh\necho ran\n", 0644);
	check_failure(&spec, "execve", EACCES);
	write_file("echo ran\n", 0755);
	check_failure(&spec, "execve", ENOEXEC);
	write_file("#!/nowhere/sh\necho ran\n", 0755);
	check_failure(&spec, "execve", ENOENT);
	write_file("#!/bin/sh\r\necho ran\r\n", 0755);
	check_failure(&spec, "execve", ENOENT);
	spec.cwd = "/nowhere";
	check_failure(&spec, "chdir", ENOENT);
	spec.cwd = NULL;
	spec.path = folder;
	check_failure(&spec, "execve", EACCES);
	wait_gone();
	(void)unlink(file_path);
	(void)rmdir(folder);
}

static void test_no_process_or_descriptor_is_a_failure_and_leaks_nothing(void **state)
{
	const char *const argv[] = {"true", NULL};
	const struct child_spec spec = {.path = "/bin/true", .argv = argv, .envp = environment};
	struct seen seen;

	(void)state;
	clone_fails = true;
	clones = 0;
	for (int i = 0; i < 50; i++)
		check_failure(&spec, "fork", EAGAIN);
	assert_int_equal(clones, 50);
	clone_fails = false;
	pipe_fails = true;
	check_failure(&spec, "pipe", EMFILE);
	assert_int_equal(clones, 50);
	pipe_fails = false;
	run_shell(&seen, "exit 0");
	assert_int_equal(seen.ends, 1);
	forget(&seen);
	/* Let go before it has been told: then nobody is. */
	clone_fails = true;
	start(&seen, &spec, NULL);
	release(&seen);
	turn(0.01);
	assert_int_equal(seen.failures, 0);
	clone_fails = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_cannot_be_executed_says_why),
		cmocka_unit_test(test_no_process_or_descriptor_is_a_failure_and_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
