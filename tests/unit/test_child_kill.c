// SPDX-License-Identifier: MIT
/* Trees that are hard to end: they survive KILL, come in crowds, are not ours, or we must go. */
#include "tests/unit/child_bench.h"

#include <sys/wait.h>

#include "probes/notice.h"

static bool kill_is_deaf; /* as if the target hung in the kernel */

int __real_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number);

int __wrap_kill(pid_t pid, int number)
{
	return kill_is_deaf && number == SIGKILL ? 0 : __real_kill(pid, number);
}

static unsigned int notices;

static void on_notice(const char *text)
{
	assert_non_null(strstr(text, "/bin/sh"));
	notices++;
}

static void test_what_outlives_kill_is_stubborn(void **state)
{
	struct remains *remains = remains_create(NULL, NULL);
	struct seen seen;
	double released;
	pid_t pid;

	(void)state;
	notice_set(on_notice);
	start_shell(&seen, "trap '' TERM; echo $$; exec sleep 60", 0.1, remains);
	pid = printed_pid(&seen);
	kill_is_deaf = true;
	release(&seen);
	released = clock_monotonic();
	while (remains_stubborn_count(remains) == 0 && clock_monotonic() < released + PATIENCE)
		turn(0.01);
	assert_true(clock_monotonic() - released >= 1.1); /* the grace and the second after KILL */
	assert_int_equal(remains_count(remains), 1);
	assert_int_equal(remains_stubborn_count(remains), 1);
	assert_int_equal(notices, 1);
	kill_is_deaf = false;
	assert_int_equal(kill(pid, SIGKILL), 0);
	wait_gone();
	assert_int_equal(remains_count(remains), 0);
	assert_int_equal(remains_stubborn_count(remains), 0);
	remains_release(remains);
	notice_set(NULL);
	forget(&seen);
}

static void test_a_crowd_is_ended_fast(void **state)
{
	struct seen seen;

	(void)state;
	start_shell(&seen,
		"i=0; while [ $i -lt 60 ]; do (trap '' TERM; sleep 60) & "
		"i=$((i + 1)); done; echo $$; wait",
		0.05, NULL);
	(void)printed_pid(&seen);
	forget(&seen);
	wait_gone();
}

/* As where a shell starts a server in the background and then becomes us. */
static void test_what_was_there_before_us_is_left_alone(void **state)
{
	struct seen seen;
	pid_t stranger;

	(void)state;
	child_finish(0);
	stranger = fork();
	if (stranger == 0) {
		(void)execl("/bin/sleep", "sleep", "60", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(child_setup(loop), 0);
	run_shell(&seen, "exit 0");
	forget(&seen);
	turn(0.05);
	assert_true(is_alive(stranger));
	child_finish(0.1);
	assert_true(is_alive(stranger));
	assert_int_equal(kill(stranger, SIGKILL), 0);
	assert_int_equal(waitpid(stranger, NULL, 0), stranger);
	assert_int_equal(child_setup(loop), 0);
}

/* The last: nothing can be started after it. */
static void test_the_exit_is_bounded(void **state)
{
	struct seen seen[3];
	pid_t pids[3];
	double before;

	(void)state;
	start_shell(&seen[0], "trap '' TERM; echo $$; while :; do sleep 0.02; done", 30, NULL);
	start_shell(&seen[1], "(setsid sleep 60 & echo $!); exit 0", 30, NULL);
	start_shell(&seen[2], "(env -i setsid sleep 60 & echo $!); sleep 60", 30, NULL);
	for (int i = 0; i < 3; i++)
		pids[i] = printed_pid(&seen[i]);
	for (int i = 0; i < 3; i++)
		forget(&seen[i]);
	before = clock_monotonic();
	child_finish(2);
	assert_true(clock_monotonic() - before < 1.9);
	assert_int_equal(child_count(), 0);
	for (int i = 0; i < 3; i++) {
		if (is_alive(pids[i]))
			fail_msg("process %d of run %d is still there", (int)pids[i], i);
	}

	/* What cannot be killed does not keep us. */
	assert_int_equal(child_setup(loop), 0);
	start_shell(&seen[0], "trap '' TERM; echo $$; exec sleep 60", 30, NULL);
	pids[0] = printed_pid(&seen[0]);
	forget(&seen[0]);
	kill_is_deaf = true;
	before = clock_monotonic();
	child_finish(0.4);
	assert_true(clock_monotonic() - before >= 0.4);
	assert_true(clock_monotonic() - before < 5);
	assert_int_equal(child_count(), 0);
	kill_is_deaf = false;
	assert_int_equal(kill(pids[0], SIGKILL), 0);
	assert_int_equal(waitpid(pids[0], NULL, 0), pids[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_outlives_kill_is_stubborn),
		cmocka_unit_test(test_a_crowd_is_ended_fast),
		cmocka_unit_test(test_what_was_there_before_us_is_left_alone),
		cmocka_unit_test(test_the_exit_is_bounded),
	};

	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
