// SPDX-License-Identifier: MIT
/* A script's environment is built from nothing, and its program found in that alone. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/script.h"

static void test_the_standard_environment(void **state)
{
	const struct script_conf conf = {.home = "/home/it", .login = "it"};
	char *error = NULL;
	char **env = script_env(&conf, &error);

	(void)state;
	assert_string_equal(
		env[0], "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	assert_string_equal(env[1], "LANG=C.UTF-8");
	assert_string_equal(env[2], "HOME=/home/it");
	assert_string_equal(env[3], "USER=it");
	assert_string_equal(env[4], "LOGNAME=it");
	assert_null(env[5]);
	script_env_free(env);
	script_env_free(NULL);
}

static void test_own_variables_win(void **state)
{
	const struct conf_pair pairs[] = {
		{.name = "LANG", .value = {.value = "de_DE", .prefix = ""}},
		{.name = "LANGUAGE", .value = {.value = "de", .prefix = "x="}},
		{.name = "EMPTY", .value = {.value = "", .prefix = ""}},
	};
	const struct script_conf conf = {
		.home = "/", .login = "it", .env = {.items = pairs, .count = 3}};
	char *error = NULL;
	char **env = script_env(&conf, &error);
	unsigned int languages = 0;

	(void)state;
	assert_string_equal(env[0], "LANG=de_DE");
	assert_string_equal(env[1], "LANGUAGE=x=de");
	assert_string_equal(env[2], "EMPTY=");
	for (char **entry = env; *entry != NULL; entry++)
		languages += strncmp(*entry, "LANG=", 5) == 0;
	assert_int_equal(languages, 1);
	script_env_free(env);
}

static void test_a_secret_that_cannot_be_read(void **state)
{
	const struct conf_pair pair = {
		.name = "TOKEN", .value = {.file = "/nowhere/token", .prefix = ""}};
	const struct script_conf conf = {
		.home = "/", .login = "it", .env = {.items = &pair, .count = 1}};
	char *error = NULL;

	(void)state;
	assert_null(script_env(&conf, &error));
	assert_string_equal(error, "/nowhere/token: No such file or directory");
	free(error);
}

static void check_path(const char *name, const char *list, const char *wanted)
{
	char *entry = xprintf("PATH=%s", list);
	char *const env[] = {"PATHS=/wrong", entry, NULL};
	char *path = script_path(name, env);

	assert_string_equal(path, wanted);
	free(path);
	free(entry);
}

static void test_names_are_looked_up_in_the_path(void **state)
{
	char folder[] = "/tmp/probity-lookup-XXXXXX";
	char list[600], first[256], second[256];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(first, sizeof(first), "%s/first", folder);
	(void)snprintf(second, sizeof(second), "%s/second", folder);
	(void)snprintf(list, sizeof(list), "/nowhere::relative:%s:%s:", first, second);
	assert_int_equal(mkdir(first, 0755), 0);
	assert_int_equal(mkdir(second, 0755), 0);
	check_path("/absolute", list, "/absolute");
	check_path("tool", list, "tool");
	check_path("tool", "", "tool");
	/* A folder is no program, and a file that cannot be executed only if there is no other. */
	(void)snprintf(second, sizeof(second), "%s/second/tool", folder);
	(void)snprintf(first, sizeof(first), "%s/first/tool", folder);
	assert_int_equal(mkdir(first, 0755), 0);
	check_path("tool", list, "tool");
	assert_int_equal(rmdir(first), 0);
	fd = open(first, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	(void)close(fd);
	check_path("tool", list, first);
	fd = open(second, O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	(void)close(fd);
	check_path("tool", list, second);
	assert_int_equal(chmod(first, 0755), 0);
	check_path("tool", list, first);
	(void)unlink(first);
	(void)unlink(second);
	*strrchr(first, '/') = '\0';
	*strrchr(second, '/') = '\0';
	(void)rmdir(first);
	(void)rmdir(second);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_standard_environment),
		cmocka_unit_test(test_own_variables_win),
		cmocka_unit_test(test_a_secret_that_cannot_be_read),
		cmocka_unit_test(test_names_are_looked_up_in_the_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
