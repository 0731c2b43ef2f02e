// SPDX-License-Identifier: MIT
/* The state file: what comes back, and what must not. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/state.h"

static char dir[] = "/tmp/probity-state-XXXXXX";

static int make_dir(void **unused)
{
	(void)unused;
	return mkdtemp(dir) == NULL ? -1 : 0;
}

static int drop_dir(void **unused)
{
	char path[64];

	(void)unused;
	(void)snprintf(path, sizeof(path), "%s/state.json", dir);
	(void)unlink(path);
	return rmdir(dir);
}

static void put_file(const char *text)
{
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/state.json", dir);
	file = fopen(path, "w");
	assert_non_null(file);
	(void)fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void write_one(const char *id, const struct threshold_state *state)
{
	struct state_writer *writer = state_writer_create();

	state_add(writer, id, state);
	assert_int_equal(state_save(writer, dir), 0);
}

static struct state *load_fine(void)
{
	char *problem = NULL;
	struct state *state = state_load(dir, &problem);

	assert_null(problem);
	return state;
}

static void what_was_published_comes_back(void **unused)
{
	const struct threshold_state written = {
		.decided = true,
		.has_status = true,
		.status = PROBE_CRITICAL,
		.failures = 3,
	};
	struct threshold_state found = {0};
	struct state *state;
	struct stat file;
	char path[64];

	(void)unused;
	write_one("web-1:ready \"x\" é", &written);
	state = load_fine();
	assert_true(state_find(state, "web-1:ready \"x\" é", &found));
	assert_int_equal(found.status, PROBE_CRITICAL);
	assert_int_equal(found.failures, 3);
	assert_int_equal(found.successes, 0);
	assert_true(found.has_status);
	assert_false(found.decided); /* this process has decided nothing */
	assert_false(state_find(state, "web-1:other", &found));
	state_destroy(state);
	(void)snprintf(path, sizeof(path), "%s/state.json", dir);
	assert_int_equal(stat(path, &file), 0);
	assert_int_equal(file.st_mode & 0777, 0600);
}

static void undecided_checks_leave_nothing(void **unused)
{
	const struct threshold_state undecided = {.successes = 1};
	struct threshold_state found;
	struct state *state;

	(void)unused;
	write_one("a", &undecided);
	state = load_fine();
	assert_false(state_find(state, "a", &found));
	state_destroy(state);
}

static void another_boot_starts_anew(void **unused)
{
	(void)unused;
	put_file("{\"format\": 1, \"boot_id\": \"not this one\", \"checks\": {\"a\": {\"status\": "
		 "\"passing\", \"successes\": 1, \"failures\": 0}}}");
	assert_null(load_fine());
}

static void damage_is_named_and_not_used(void **unused)
{
	static const char *const texts[] = {
		"", "{", "[]", "{\"format\": 99, \"boot_id\": \"x\", \"checks\": {}}"};

	(void)unused;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char *problem = NULL;

		put_file(texts[i]);
		assert_null(state_load(dir, &problem));
		assert_non_null(problem);
		free(problem);
	}
}

static void no_file_is_no_problem(void **unused)
{
	char *problem = NULL;

	(void)unused;
	assert_null(state_load("/nonexistent", &problem));
	assert_null(problem);
	assert_false(state_find(NULL, "a", &(struct threshold_state){0}));
}

static void a_failed_write_keeps_the_old_file(void **unused)
{
	const struct threshold_state passing = {.has_status = true, .successes = 1};
	struct threshold_state found;
	struct state *state;
	struct state_writer *writer;

	(void)unused;
	write_one("kept", &passing);
	writer = state_writer_create();
	assert_true(state_save(writer, "/nonexistent") < 0);
	state = load_fine();
	assert_true(state_find(state, "kept", &found));
	state_destroy(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_published_comes_back),
		cmocka_unit_test(undecided_checks_leave_nothing),
		cmocka_unit_test(another_boot_starts_anew),
		cmocka_unit_test(damage_is_named_and_not_used),
		cmocka_unit_test(no_file_is_no_problem),
		cmocka_unit_test(a_failed_write_keeps_the_old_file),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
