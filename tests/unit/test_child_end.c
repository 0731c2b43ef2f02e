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
	run_shell(&seen, "sleep 60 & echo $!; exit 0");
	assert_int_equal(seen.end, CHILD_EXITED);
	assert_int_equal(seen.value, 0);
	/* The pipe is still open: somebody may have had something to say. */
	assert_true(seen.at - seen.started >= 0.25);
	assert_true(seen.at - seen.started < 5);
	pid = printed_pid(&seen);
	assert_true(is_alive(pid));
	forget(&seen);
	wait_dead(pid);
	wait_gone();
}

static void test_late_words_are_heard(void **state)
{
	struct seen seen;

	(void)state;
	run_shell(&seen, "(sleep 0.05; echo late) & exit 0");
	assert_string_equal(text_of(&seen), "late");
	forget(&seen);
	wait_gone();
}

static void test_a_verdict_that_has_fallen_survives_the_deadline(void **state)
{
	struct seen seen;

	(void)state;
	start_shell(&seen, "echo up; sleep 60 & exit 1", 1, NULL);
	while (seen.child->state == CHILD_RUNNING)
		turn(0.005);
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
	wait_gone();
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
	wait_text(&seen, "up");
	release(&seen);
	wait_gone();
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
	start_shell(&soft, "echo $$; exec sleep 60", 60, remains);
	start_shell(&hard, "trap '' TERM; echo $$; while :; do sleep 0.02; done", 1, remains);
	soft_pid = printed_pid(&soft);
	hard_pid = printed_pid(&hard);
	released = clock_monotonic();
	release(&soft);
	release(&hard);
	assert_int_equal(remains_count(remains), 2);
	wait_dead(soft_pid);
	wait_dead(hard_pid);
	assert_true(clock_monotonic() - released >= 1);
	wait_gone();
	assert_true(clock_monotonic() - released < 30);
	assert_int_equal(remains_count(remains), 0);
	remains_release(remains);
	forget(&soft);
	forget(&hard);
}

/* Each writes the pid of a process that does all it can to stay to $F. */
static const char *const escapes[] = {
	"(setsid sleep 61 & echo $! >$F)",
	"setsid setsid sh -c 'echo $$ >'$F'; exec sleep 61' &",
	"env -i sleep 61 & echo $! >$F",
	"(env -i setsid sleep 61 & echo $! >$F)",
	"setsid sh -c 'trap \"\" TERM HUP; sleep 61 & echo $! >'$F'; wait' &",
	"setsid sh -c 'sleep 61 & sleep 62 & (setsid sleep 63 & echo $! >'$F')' &",
};

/* The script prints the pid when it knows it, and goes on with `then`. */
static void start_escape(struct seen *seen, size_t number, const char *then, double kill_grace)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		"F=/tmp/probity-escape-$$; %s\nuntil [ -s $F ]; do sleep 0.01; done; "
		"cat $F; rm $F; %s",
		escapes[number], then);
	start_shell(seen, text, kill_grace, NULL);
}

static void test_nothing_escapes_after_the_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(escapes) / sizeof(*escapes); i++) {
		struct seen seen;
		const pid_t *pids;
		pid_t pid;

		start_escape(&seen, i, "exit 0", 1);
		wait_over(&seen);
		pid = printed_pid(&seen);
		assert_true(is_alive(pid));
		forget(&seen);
		wait_dead(pid);
		wait_gone();
		turn(0.05);
		assert_int_equal(tree_children(&pids), 0);
	}
}

static void test_nothing_escapes_the_deadline(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(escapes) / sizeof(*escapes); i++) {
		struct seen seen;
		pid_t pid;

		start_escape(&seen, i, "sleep 64", 0.2);
		pid = printed_pid(&seen);
		turn(0.3);
		assert_true(is_alive(pid));
		forget(&seen);
		wait_dead(pid);
		wait_gone();
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
	run_shell(&seen, "(setsid sleep 60 & echo $!)");
	daemon_pid = printed_pid(&seen);
	forget(&seen);
	wait_dead(daemon_pid);
	/* No mark, but the session of the run that is over. */
	run_shell(&seen, "env -i sleep 60 & echo $!");
	daemon_pid = printed_pid(&seen);
	forget(&seen);
	wait_dead(daemon_pid);
	turn(0.1);
	assert_true(is_alive(unmarked));
	assert_int_equal(other.ends, 0);
	forget(&other);
	wait_dead(unmarked);
	wait_gone();
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
	run_shell(&third, "exit 0");
	forget(&third);
	wait_dead(unmarked);
	assert_int_equal(young.ends, 0);
	forget(&young);
	wait_gone();
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
