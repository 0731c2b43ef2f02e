// SPDX-License-Identifier: MIT
/* What a script reads: text and files as they are, limits, and sources that cannot be read. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/script.h"

#define LIMIT ((size_t)1024 * 1024)

static int memfd_error;
static unsigned int refused_flags;
int __real_memfd_create(const char *name, unsigned int flags);
int __wrap_memfd_create(const char *name, unsigned int flags);

int __wrap_memfd_create(const char *name, unsigned int flags)
{
	if (memfd_error != 0 && (refused_flags == 0 || (flags & refused_flags) != 0)) {
		errno = memfd_error;
		return -1;
	}
	/* As an old kernel would: the newest flag may be unknown to this one as well. */
	return __real_memfd_create(name, flags & 3U);
}

/* All that can be read from fd, which is closed. free(). */
static char *read_all(int fd, size_t *ret_length)
{
	char *bytes = malloc(2 * LIMIT);
	size_t length = 0;
	ssize_t got;

	assert_true(fd > STDERR_FILENO);
	assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	while ((got = read(fd, bytes + length, 2 * LIMIT - length)) > 0)
		length += (size_t)got;
	assert_int_equal(got, 0);
	(void)close(fd);
	*ret_length = length;
	return bytes;
}

static void expect(const struct conf_secret *source, const char *wanted, size_t wanted_length)
{
	char *error = NULL;
	size_t length;
	char *bytes = read_all(script_input(source, &error), &length);

	assert_null(error);
	assert_int_equal(length, wanted_length);
	assert_memory_equal(bytes, wanted, length);
	free(bytes);
}

static void expect_error(const struct conf_secret *source, const char *wanted)
{
	char *error = NULL;

	assert_true(script_input(source, &error) <= 0);
	assert_non_null(error);
	assert_string_equal(error, wanted);
	free(error);
}

static char path[] = "/tmp/probity-input-XXXXXX";

static void fill_file(const char *bytes, size_t length)
{
	FILE *stream = fopen(path, "we");

	assert_non_null(stream);
	assert_int_equal(fwrite(bytes, 1, length, stream), length);
	assert_int_equal(fclose(stream), 0);
}

static void test_text_and_nothing(void **state)
{
	const struct conf_secret nothing = {.prefix = ""}, empty = {.value = ""};
	const struct conf_secret text = {.value = "a\nb\n"};
	char *error = NULL;

	(void)state;
	assert_int_equal(script_input(&nothing, &error), 0);
	assert_null(error);
	expect(&empty, "", 0);
	expect(&text, "a\nb\n", 4);
}

static void test_a_file_is_read_as_it_is_each_time(void **state)
{
	const struct conf_secret plain = {.file = path, .prefix = ""};
	const struct conf_secret prefixed = {.file = path, .prefix = "AUTH "};

	(void)state;
	fill_file("x\0y\n\n", 5);
	expect(&plain, "x\0y\n\n", 5);
	fill_file("other", 5);
	expect(&prefixed, "AUTH other", 10);
	fill_file("", 0);
	expect(&plain, "", 0);
}

static void test_the_limit_holds_to_the_byte(void **state)
{
	const struct conf_secret plain = {.file = path, .prefix = ""};
	const struct conf_secret prefixed = {.file = path, .prefix = "p"};
	char *bytes = calloc(LIMIT + 2, 1);
	const struct conf_secret text = {.value = bytes};
	char *wanted;

	(void)state;
	assert_true(asprintf(&wanted, "stdin: %s: longer than 1 MiB", path) > 0);
	memset(bytes, 'b', LIMIT + 1);
	fill_file(bytes, LIMIT);
	expect(&plain, bytes, LIMIT);
	expect_error(&prefixed, wanted);
	fill_file(bytes, LIMIT + 1);
	expect_error(&plain, wanted);
	expect_error(&text, "stdin: longer than 1 MiB");
	free(wanted);
	free(bytes);
}

static void test_what_cannot_be_read_is_named(void **state)
{
	const struct conf_secret missing = {.file = "/nowhere/input", .prefix = ""};
	const struct conf_secret folder = {.file = "/", .prefix = ""};
	struct conf_secret fifo = {.file = path, .prefix = ""};

	(void)state;
	expect_error(&missing, "stdin: /nowhere/input: No such file or directory");
	expect_error(&folder, "stdin: /: not a regular file");
	/* Nobody writes to it: opening it must not wait. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	fifo.file = path;
	{
		char *wanted;

		assert_true(asprintf(&wanted, "stdin: %s: not a regular file", path) > 0);
		expect_error(&fifo, wanted);
		free(wanted);
	}
	assert_int_equal(unlink(path), 0);
}

static void test_a_lack_of_descriptors_is_the_machines_fault(void **state)
{
	const struct conf_secret text = {.value = "x"};
	char *error = NULL;

	(void)state;
	memfd_error = EMFILE;
	assert_int_equal(script_input(&text, &error), -EMFILE);
	assert_null(error);
	/* A kernel that does not know the newest flag is asked without it. */
	memfd_error = EINVAL;
	refused_flags = 8;
	expect(&text, "x", 1);
	memfd_error = 0;
	refused_flags = 0;
}

static int set_up(void **state)
{
	int fd = mkostemp(path, O_CLOEXEC);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_and_nothing),
		cmocka_unit_test(test_a_file_is_read_as_it_is_each_time),
		cmocka_unit_test(test_the_limit_holds_to_the_byte),
		cmocka_unit_test(test_what_cannot_be_read_is_named),
		cmocka_unit_test(test_a_lack_of_descriptors_is_the_machines_fault),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
