// SPDX-License-Identifier: MIT
/* What children leave behind: it does not hold up a verdict, and it is ended. */
#include "tests/unit/child_bench.h"

#include <sys/wait.h>

#include "probes/child_private.h"

static unsigned int group_signals;
int __real_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number);

int __wrap_kill(pid_t pid, int number)
{
	group_signals += pid < 0;
	return __real_kill(pid, number);
}

static void test_a_background_process_holds_up_no_verdict(void **state)
{
	struct seen seen;
	pid_t pid;

	(void)state;
	run_shell(&seen, "sleep 60 & echo $!; exit 0", 5);
	assert_int_equal(seen.end, CHILD_EXITED);
	assert_int_equal(seen.value, 0);
	/* The pipe is still open: somebody may have had something to say. */
	assert_true(seen.at - seen.started >= 0.25);
	assert_true(seen.at - seen.started < 0.6);
	pid = printed_pid(&seen);
	assert_true(is_alive(pid));
	forget(&seen);
	wait_dead(pid, 0.3);
	wait_gone(0.3);
}

static void test_late_words_are_heard(void **state)
{
	struct seen seen;

	(void)state;
	run_shell(&seen, "(sleep 0.05; echo late) & exit 0", 5);
	assert_string_equal(text_of(&seen), "late");
	assert_true(seen.at - seen.started < 0.25);
	forget(&seen);
	wait_gone(0.3);
}

static void test_a_verdict_that_has_fallen_survives_the_deadline(void **state)
{
	struct seen seen;

	(void)state;
	start_shell(&seen, "echo up; sleep 60 & exit 1", 1, NULL);
	turn(0.1);
	assert_int_equal(seen.ends, 0);
	child_expire(seen.child);
	assert_int_equal(seen.ends, 1);
	assert_int_equal(seen.value, 1);
	assert_string_equal(text_of(&seen), "up");
	child_expire(seen.child);
	assert_int_equal(seen.ends, 1);
	forget(&seen);
	start_shell(&seen, "sleep 60", 1, NULL);
	child_expire(seen.child);
	assert_int_equal(seen.ends, 0);
	forget(&seen);
	wait_gone(0.5);
}

/* As libev leaves it between its waitpid() and our callback. */
static void reap_unheard(struct seen *seen, const char *text)
{
	ev_child *reaper;

	start_shell(seen, text, 1, NULL);
	reaper = &seen->child->reaper;
	assert_int_equal(waitpid(reaper->pid, &reaper->rstatus, 0), reaper->pid);
	ev_feed_event(loop, reaper, EV_CHILD);
}

static void test_a_child_reaped_in_this_pass_has_a_verdict(void **state)
{
	struct seen seen;

	(void)state;
	reap_unheard(&seen, "exit 3");
	child_expire(seen.child);
	assert_int_equal(seen.ends, 1);
	assert_int_equal(seen.value, 3);
	forget(&seen);
	/* Its number may be another's by now: a group of that number is not ours to signal. */
	reap_unheard(&seen, "exit 3");
	group_signals = 0;
	forget(&seen);
	assert_int_equal(group_signals, 0);
	turn(0.02);
	assert_int_equal(child_count(), 0);
}

static void test_no_event_after_release(void **state)
{
	struct seen seen;

	(void)state;
	start_shell(&seen,
		"trap 'echo trapped; exit 0' TERM; echo up; while :; do sleep 0.02; done", 1, NULL);
	turn(0.2);
	assert_string_equal(text_of(&seen), "up");
	release(&seen);
	wait_gone(0.5);
	assert_int_equal(seen.ends + seen.failures, 0);
	assert_string_equal(text_of(&seen), "up");
	forget(&seen);
}

static void test_term_then_kill(void **state)
{
	struct remains *remains = remains_create(NULL, NULL);
	struct seen soft, hard;
	double released;
	pid_t soft_pid, hard_pid;

	(void)state;
	start_shell(&soft, "echo $$; exec sleep 60", 10, remains);
	start_shell(&hard, "trap '' TERM; echo $$; while :; do sleep 0.02; done", 0.5, remains);
	soft_pid = printed_pid(&soft);
	hard_pid = printed_pid(&hard);
	released = clock_monotonic();
	release(&soft);
	release(&hard);
	assert_int_equal(remains_count(remains), 2);
	wait_dead(soft_pid, 0.3);
	turn(0.05);
	assert_int_equal(remains_count(remains), 1);
	assert_true(is_alive(hard_pid));
	wait_gone(1);
	assert_false(is_alive(hard_pid));
	assert_true(clock_monotonic() - released >= 0.5);
	assert_int_equal(remains_count(remains), 0);
	remains_release(remains);
	forget(&soft);
	forget(&hard);
}

/* Each prints the pid of a process that does all it can to stay. */
static const char *const escapes[] = {
	"(setsid sleep 61 & echo $!)",
	"setsid setsid sh -c 'echo $$; exec sleep 61' & sleep 0.2",
	"env -i sleep 61 & echo $!",
	"(env -i setsid sleep 61 & echo $!)",
	"(trap '' TERM; setsid sh -c 'trap \"\" TERM HUP; sleep 61 & echo $!; wait') & sleep 0.2",
	"nohup setsid sh -c 'sleep 61 & sleep 62 & (setsid sleep 63 & echo $!)' & sleep 0.2",
};

static void test_nothing_escapes_after_the_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(escapes) / sizeof(*escapes); i++) {
		struct seen seen;
		const pid_t *pids;
		pid_t pid;

		run_shell(&seen, escapes[i], 5);
		pid = printed_pid(&seen);
		assert_true(is_alive(pid));
		forget(&seen);
		wait_dead(pid, 0.3);
		wait_gone(0.3);
		turn(0.05);
		assert_int_equal(tree_children(&pids), 0);
	}
}

static void test_nothing_escapes_the_deadline(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(escapes) / sizeof(*escapes); i++) {
		char text[512];
		struct seen seen;
		pid_t pid;

		(void)snprintf(text, sizeof(text), "%s; sleep 64", escapes[i]);
		start_shell(&seen, text, 0.2, NULL);
		pid = printed_pid(&seen);
		turn(0.3);
		assert_true(is_alive(pid));
		forget(&seen);
		wait_dead(pid, 0.7);
		wait_gone(0.7);
	}
}

static void test_others_are_left_alone(void **state)
{
	struct seen other, seen;
	pid_t daemon_pid, unmarked;

	(void)state;
	/* A script that goes on, with a child in the background that carries no mark. */
	start_shell(&other, "(env -i setsid sleep 60 & echo $!); sleep 60", 1, NULL);
	unmarked = printed_pid(&other);
	turn(0.1);
	run_shell(&seen, "(setsid sleep 60 & echo $!)", 5);
	daemon_pid = printed_pid(&seen);
	forget(&seen);
	wait_dead(daemon_pid, 0.3);
	/* No mark, but the session of the run that is over. */
	run_shell(&seen, "env -i sleep 60 & echo $!", 5);
	daemon_pid = printed_pid(&seen);
	forget(&seen);
	wait_dead(daemon_pid, 0.3);
	turn(0.1);
	assert_true(is_alive(unmarked));
	assert_int_equal(other.ends, 0);
	forget(&other);
	wait_dead(unmarked, 0.5);
	wait_gone(0.5);
}

/* An older run's leftover without a mark goes although a younger script runs. */
static void test_a_younger_script_protects_no_leftover(void **state)
{
	struct seen old, young, third;
	pid_t unmarked;

	(void)state;
	start_shell(&old, "(env -i setsid sleep 60 & echo $!); sleep 60", 1, NULL);
	unmarked = printed_pid(&old);
	turn(0.05);
	start_shell(&young, "sleep 60", 1, NULL);
	turn(0.05);
	forget(&old);
	run_shell(&third, "exit 0", 5);
	forget(&third);
	wait_dead(unmarked, 0.3);
	assert_int_equal(young.ends, 0);
	forget(&young);
	wait_gone(0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_background_process_holds_up_no_verdict),
		cmocka_unit_test(test_late_words_are_heard),
		cmocka_unit_test(test_a_verdict_that_has_fallen_survives_the_deadline),
		cmocka_unit_test(test_a_child_reaped_in_this_pass_has_a_verdict),
		cmocka_unit_test(test_no_event_after_release),
		cmocka_unit_test(test_term_then_kill),
		cmocka_unit_test(test_nothing_escapes_after_the_end),
		cmocka_unit_test(test_nothing_escapes_the_deadline),
		cmocka_unit_test(test_others_are_left_alone),
		cmocka_unit_test(test_a_younger_script_protects_no_leftover),
	};

	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
