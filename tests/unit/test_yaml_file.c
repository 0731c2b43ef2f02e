// SPDX-License-Identifier: MIT
/* Reading the file itself: what is no file, and calls that fail. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/yaml.h"

/* One failure each; reads may also be interrupted once or come in pieces. */
static int fstat_error, read_error;
static bool read_in_pieces;
static int closed;

int __real_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status)
{
	if (fstat_error == 0)
		return __real_fstat(fd, status);
	errno = fstat_error;
	return -1;
}

ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	if (read_error != 0) {
		errno = read_error;
		/* An interruption comes once. */
		read_error = read_error == EINTR ? 0 : read_error;
		return -1;
	}
	return __real_read(fd, buffer, read_in_pieces && size > 3 ? 3 : size);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	closed++;
	return __real_close(fd);
}

static char folder[] = "/tmp/probity-yaml-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	(void)snprintf(path, sizeof(path), "%s/t.yaml", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	(void)unlink(path);
	return rmdir(folder);
}

static void write_file(const char *text, size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, length), length);
	assert_int_equal(__real_close(fd), 0);
}

/* Loads a path; the only problem's text, "" if there is none. */
static char *load(const char *file)
{
	struct arena *arena = arena_create();
	struct conf_diag *diag = diag_create();
	const struct conf_node *root = node_load(arena, file, diag);
	const struct conf_problem *problem = diag_at(diag, 0);
	char *text = xstrdup(problem == NULL ? "" : problem->text);

	assert_int_equal(root == NULL, problem != NULL);
	if (problem != NULL) {
		assert_string_equal(problem->mark.file, file);
		assert_int_equal(problem->mark.line, 0);
	} else {
		assert_string_equal(node_get(root, "key")->text, "value");
	}
	diag_destroy(diag);
	arena_destroy(arena);
	return text;
}

static void expect(const char *file, const char *expected)
{
	char *text = load(file);

	assert_string_equal(text, expected);
	free(text);
}

static void test_what_is_no_file(void **state)
{
	(void)state;
	expect(folder, "is a folder; give a file");
	expect("/dev/null", "is not a regular file");
	expect("/nonexistent/t.yaml", "cannot read: No such file or directory");
}

static void test_a_pipe_without_a_writer_does_not_stop_us(void **state)
{
	(void)state;
	(void)unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect(path, "is not a regular file");
	(void)unlink(path);
}

static void test_calls_that_fail(void **state)
{
	(void)state;
	write_file("key: value\n", 11);
	closed = 0;
	fstat_error = EIO;
	expect(path, "cannot read: Input/output error");
	fstat_error = 0;
	read_error = EIO;
	expect(path, "cannot read: Input/output error");
	read_error = EINTR;
	expect(path, "");
	read_error = 0;
	read_in_pieces = true;
	expect(path, "");
	read_in_pieces = false;
	assert_int_equal(closed, 4);
}

static void test_size_at_the_limit(void **state)
{
	char *text = xcalloc(CONF_MAX_BYTES + 1, 1);

	(void)state;
	memset(text, '#', CONF_MAX_BYTES + 1);
	memcpy(text, "key: value\n", 11);
	write_file(text, CONF_MAX_BYTES);
	expect(path, "");
	write_file(text, CONF_MAX_BYTES + 1);
	expect(path, "is larger than 1024 KiB");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_no_file),
		cmocka_unit_test(test_a_pipe_without_a_writer_does_not_stop_us),
		cmocka_unit_test(test_calls_that_fail),
		cmocka_unit_test(test_size_at_the_limit),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
