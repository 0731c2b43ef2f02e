// SPDX-License-Identifier: MIT
/* Memory of one load, and what happens when there is none. */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/arena.h"

static bool memory_is_out;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return memory_is_out ? NULL : __real_calloc(count, size);
}

static void test_memory_is_zero_and_aligned(void **state)
{
	struct arena *arena = arena_create();

	(void)state;
	for (size_t size = 0; size < 200; size++) {
		unsigned char *memory = arena_alloc(arena, size);

		assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(memory[i], 0);
		memset(memory, 0xee, size);
	}
	arena_destroy(arena);
}

static void test_pieces_do_not_overlap(void **state)
{
	enum {
		COUNT = 3000
	};
	struct arena *arena = arena_create();
	char *pieces[COUNT];

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		/* Every hundredth is larger than a block. */
		pieces[i] = i % 100 == 99 ? arena_alloc(arena, 200000)
					  : arena_printf(arena, "piece %d", i);
		if (i % 100 == 99)
			(void)snprintf(pieces[i], 200000, "piece %d", i);
	}
	for (int i = 0; i < COUNT; i++) {
		char expected[32];

		(void)snprintf(expected, sizeof(expected), "piece %d", i);
		assert_string_equal(pieces[i], expected);
	}
	arena_destroy(arena);
}

static void test_copies_end_where_they_should(void **state)
{
	struct arena *arena = arena_create();
	const char unterminated[3] = {'a', 'b', 'c'};

	(void)state;
	assert_string_equal(arena_strndup(arena, unterminated, 3), "abc");
	assert_string_equal(arena_strndup(arena, "ab", 10), "ab");
	assert_string_equal(arena_strdup(arena, ""), "");
	arena_destroy(arena);
}

static char order[8];

static void note(void *object)
{
	(void)strncat(order, object, 1);
}

static void test_deferred_calls_run_newest_first(void **state)
{
	struct arena *arena = arena_create();

	(void)state;
	arena_defer(arena, note, arena_strdup(arena, "a"));
	arena_defer(arena, note, arena_strdup(arena, "b"));
	arena_defer(arena, note, arena_strdup(arena, "c"));
	assert_string_equal(order, "");
	arena_destroy(arena);
	assert_string_equal(order, "cba");
	arena_destroy(NULL);
}

static void ask_for_memory(void)
{
	memory_is_out = true;
	(void)xcalloc(1, 8);
}

static void ask_for_too_much(void)
{
	(void)xrealloc(NULL, SIZE_MAX / 2, 3);
}

/* Runs ask in a child: it must die of SIGABRT, with one line on its standard error. */
static void assert_aborts(void (*ask)(void))
{
	const struct rlimit no_core = {0};
	char line[100] = "";
	int ends[2], status;
	ssize_t got;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)setrlimit(RLIMIT_CORE, &no_core);
		(void)signal(SIGABRT, SIG_DFL);
		(void)dup2(ends[1], STDERR_FILENO);
		ask();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	(void)close(ends[1]);
	got = read(ends[0], line, sizeof(line) - 1);
	(void)close(ends[0]);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_true(got > 0);
	assert_memory_equal(line, "probity: out of memory\n", 23);
}

static void test_without_memory_it_says_so_and_aborts(void **state)
{
	(void)state;
	assert_aborts(ask_for_memory);
	assert_aborts(ask_for_too_much);
}

static void test_nothing_is_something(void **state)
{
	void *none = xcalloc(0, 8);
	void *shrunk = xrealloc(xcalloc(4, 1), 0, 8);

	(void)state;
	assert_non_null(none);
	assert_non_null(shrunk);
	free(none);
	free(shrunk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_is_zero_and_aligned),
		cmocka_unit_test(test_pieces_do_not_overlap),
		cmocka_unit_test(test_copies_end_where_they_should),
		cmocka_unit_test(test_deferred_calls_run_newest_first),
		cmocka_unit_test(test_without_memory_it_says_so_and_aborts),
		cmocka_unit_test(test_nothing_is_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
