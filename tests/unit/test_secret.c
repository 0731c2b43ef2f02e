// SPDX-License-Identifier: MIT
/* A secret is read when it is asked for, and no failure shows or blocks anything. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/secret.h"

static char folder[64], path[128];

static void put(const char *bytes, size_t length)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/probity-secret-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	(void)snprintf(path, sizeof(path), "%s/secret", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	(void)unlink(path);
	return rmdir(folder);
}

static void check_error(const char *wanted)
{
	const struct conf_secret secret = {.file = path, .prefix = ""};
	char *error = NULL;

	assert_null(secret_read(&secret, &error));
	assert_non_null(error);
	assert_memory_equal(error, path, strlen(path));
	assert_non_null(strstr(error, wanted));
	free(error);
}

static void test_values(void **state)
{
	const struct conf_secret given = {.value = "pass", .prefix = "Bearer "};
	const struct conf_secret absent = {.prefix = "Bearer "};
	char *error = (char *)1;
	char *value = secret_read(&given, &error);

	(void)state;
	assert_string_equal(value, "Bearer pass");
	secret_free(value);
	assert_null(secret_read(&absent, &error));
	assert_null(error);
	secret_free(NULL);
}

static void test_a_rotated_file_counts_at_once(void **state)
{
	const struct conf_secret secret = {.file = path, .prefix = "P "};
	char *error = NULL, *value;

	(void)state;
	put("first\r\n\n", 8);
	value = secret_read(&secret, &error);
	assert_string_equal(value, "P first");
	secret_free(value);
	put(" second line\nthird", 18);
	value = secret_read(&secret, &error);
	assert_string_equal(value, "P  second line\nthird");
	secret_free(value);
}

static void test_what_cannot_be_a_secret(void **state)
{
	static char big[SECRET_MAX + 1];

	(void)state;
	(void)unlink(path);
	check_error("No such file or directory");
	put("", 0);
	check_error("empty");
	put("\n\n", 2);
	check_error("empty");
	put("a\0b", 3);
	check_error("NUL");
	memset(big, 'S', sizeof(big));
	put(big, sizeof(big));
	check_error("too long");
	put(big, sizeof(big) - 1);
	{
		const struct conf_secret secret = {.file = path, .prefix = ""};
		char *error = NULL, *value = secret_read(&secret, &error);

		assert_int_equal(strlen(value), SECRET_MAX);
		secret_free(value);
	}
}

static void test_a_fifo_or_folder_does_not_block(void **state)
{
	(void)state;
	(void)unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	check_error("not a regular file");
	(void)unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	check_error("not a regular file");
	assert_int_equal(rmdir(path), 0);
}

static void hides(const char *secret, const char *text, const char *wanted)
{
	size_t length = strlen(text);
	char *shown = secret_hide(secret, text, &length);

	assert_string_equal(shown, wanted);
	assert_int_equal(length, strlen(wanted));
	free(shown);
}

static void test_what_is_hidden_in_a_text(void **state)
{
	size_t length = 4;
	char *shown = secret_hide("b\0", "a\0bc", &length);

	(void)state;
	assert_memory_equal(shown, "a\0***c", 6);
	assert_int_equal(length, 6);
	free(shown);
	hides(NULL, "word", "word");
	hides("", "word", "word");
	hides("word", "", "");
	hides("word", "wor", "wor");
	hides("word", "word", "***");
	hides("word", "a word, and wordword", "a ***, and ******");
	hides("a", "aaaa", "************");
	hides("aa", "aaaaa", "******a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_a_rotated_file_counts_at_once),
		cmocka_unit_test(test_what_cannot_be_a_secret),
		cmocka_unit_test(test_a_fifo_or_folder_does_not_block),
		cmocka_unit_test(test_what_is_hidden_in_a_text),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
