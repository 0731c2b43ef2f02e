// SPDX-License-Identifier: MIT
/* What /proc says of our children is read right. */
#include "tests/unit/child_bench.h"

#include "probes/child_tree.h"

static void test_the_mark_is_found_anywhere_in_the_environment(void **state)
{
	static const char *const texts[] = {
		"sleep 60", "A=1 B=2 exec env -u PATH Z=1 /bin/sleep 60"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		char digits[TREE_RUN_DIGITS + 1] = "";
		const pid_t *pids;
		struct seen seen;

		start_shell(&seen, texts[i], 1, NULL);
		turn(0.1);
		assert_int_equal(tree_children(&pids), 1);
		assert_true(tree_run(pids[0], digits));
		assert_int_equal(strlen(digits), TREE_RUN_DIGITS);
		assert_int_equal(strspn(digits, "0123456789abcdef"), TREE_RUN_DIGITS);
		forget(&seen);
		wait_gone();
	}
	{
		char digits[TREE_RUN_DIGITS + 1];

		assert_false(tree_run(getpid(), digits));
		assert_false(tree_run(0x7ffffff0, digits));
	}
}

static void test_both_lists_of_children_agree(void **state)
{
	struct seen seen;
	const pid_t *pids;
	pid_t quick[8];
	size_t count;

	(void)state;
	start_shell(&seen, "setsid sleep 60 & setsid sleep 60 & exit 0", 1, NULL);
	wait_over(&seen); /* both are ours now */
	count = tree_children(&pids);
	assert_int_equal(count, 2);
	memcpy(quick, pids, count * sizeof(*quick));
	assert_int_equal(tree_children_slow(&pids), 2);
	assert_true((pids[0] == quick[0] && pids[1] == quick[1]) ||
		(pids[0] == quick[1] && pids[1] == quick[0]));
	forget(&seen);
	wait_gone();
}

static void test_names_of_processes_fool_nobody(void **state)
{
	struct tree_process process;

	(void)state;
	assert_true(tree_parse(
		"42 (a) Z 1 2 (x) S 7 8 9 0 -1 4 1 0 0 0 3 4 0 0 20 0 5 0 1234 1 2\n", &process));
	assert_int_equal(process.pid, 42);
	assert_int_equal(process.parent, 7);
	assert_int_equal(process.group, 8);
	assert_int_equal(process.session, 9);
	assert_false(process.dead);
	assert_true(process.started > 0);
	/* A first thread that has ended, and a zombie. */
	assert_true(tree_parse("42 (x) Z 7 8 9 0 -1 4 1 0 0 0 3 4 0 0 20 0 5 0 1234 1", &process));
	assert_false(process.dead);
	assert_true(tree_parse("42 (x) Z 7 8 9 0 -1 4 1 0 0 0 3 4 0 0 20 0 1 0 1234 1", &process));
	assert_true(process.dead);
	assert_false(tree_parse("42 (x", &process));
	assert_false(tree_parse("42 (x) S 7 8 9", &process));
	assert_false(tree_parse("", &process));
	assert_false(tree_inspect(0x7ffffff0, &process));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_mark_is_found_anywhere_in_the_environment),
		cmocka_unit_test(test_both_lists_of_children_agree),
		cmocka_unit_test(test_names_of_processes_fool_nobody),
	};

	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
