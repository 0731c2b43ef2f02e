// SPDX-License-Identifier: MIT
/* Whoever could change what a path leads to is found, on every way to it. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/safepath.h"

static char base[64];

static char *in_base(const char *name)
{
	static char paths[4][256];
	static unsigned int next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", base, name);
	return path;
}

static void make_folder(const char *name, mode_t mode)
{
	assert_int_equal(mkdir(in_base(name), 0700), 0);
	assert_int_equal(chmod(in_base(name), mode), 0);
}

static void make_file(const char *name, mode_t mode)
{
	FILE *file = fopen(in_base(name), "w");

	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(in_base(name), mode), 0);
}

static void make_link(const char *target, const char *name)
{
	assert_int_equal(symlink(target, in_base(name)), 0);
}

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(base, sizeof(base), "/tmp/probity-path-XXXXXX");
	if (mkdtemp(base) == NULL)
		return -1;
	make_folder("good", 0755);
	make_file("good/file", 0755);
	make_file("good/shared", 0757);
	make_file("good/group", 0775);
	make_folder("open", 0777);
	make_file("open/file", 0755);
	make_folder("open/deep", 0755);
	make_file("open/deep/file", 0755);
	make_folder("sticky", 01777);
	make_file("sticky/file", 0755);
	make_link("../open/file", "good/into_open");
	make_link("file", "good/link");
	make_link("link", "good/link_to_link");
	make_link("../open", "good/open");
	make_link("../good/../good/./file", "good/dots");
	make_link("loop_b", "good/loop_a");
	make_link("loop_a", "good/loop_b");
	make_link("gone", "good/dangling");
	make_link(in_base("good/file"), "absolute");
	return 0;
}

static int tear_down(void **state)
{
	char *command = xprintf("rm -r '%s'", base);
	int result = system(command); /* NOLINT: a test's own folder */

	(void)state;
	free(command);
	return result;
}

/* wanted: what follows the base in the complaint, or NULL for safe. */
static void check(const char *name, enum safepath_result result, const char *wanted)
{
	const struct safepath_policy policy = {.user = geteuid(), .sticky_is_fine = true};
	char *path = *name == '/' ? xstrdup(name) : xstrdup(in_base(name));
	char *complaint = NULL;

	assert_int_equal(safepath_check(path, &policy, &complaint), result);
	if (wanted == NULL) {
		assert_null(complaint);
	} else {
		char *whole = xprintf("%s%s", *name == '/' ? "" : base, wanted);

		assert_string_equal(complaint, whole);
		free(whole);
	}
	free(complaint);
	free(path);
}

static void test_safe_paths(void **state)
{
	(void)state;
	check("good/file", SAFEPATH_SAFE, NULL);
	check("good//./file", SAFEPATH_SAFE, NULL);
	check("good/link", SAFEPATH_SAFE, NULL);
	check("good/link_to_link", SAFEPATH_SAFE, NULL);
	check("good/dots", SAFEPATH_SAFE, NULL);
	check("absolute", SAFEPATH_SAFE, NULL);
	check("sticky/file", SAFEPATH_SAFE, NULL);
	check("/", SAFEPATH_SAFE, NULL);
	check("/../../bin/sh", SAFEPATH_SAFE, NULL);
}

static void test_each_component_counts(void **state)
{
	(void)state;
	check("good/shared", SAFEPATH_UNSAFE, "/good/shared is mode 0757");
	check("good/group", SAFEPATH_UNSAFE, "/good/group is mode 0775");
	check("open/file", SAFEPATH_UNSAFE, "/open is mode 0777");
	check("open/deep/file", SAFEPATH_UNSAFE, "/open is mode 0777");
	check("open", SAFEPATH_UNSAFE, "/open is mode 0777");
	/* Through links, and back out again. */
	check("good/into_open", SAFEPATH_UNSAFE, "/open is mode 0777");
	check("good/open/deep/file", SAFEPATH_UNSAFE, "/open is mode 0777");
	check("open/../good/file", SAFEPATH_UNSAFE, "/open is mode 0777");
}

static void test_sticky_helps_only_where_it_is_asked_for(void **state)
{
	const struct safepath_policy policy = {.user = geteuid()};
	char *complaint = NULL;

	(void)state;
	assert_int_equal(
		safepath_check(in_base("good/file"), &policy, &complaint), SAFEPATH_UNSAFE);
	assert_string_equal(complaint, "/tmp is mode 1777");
	free(complaint);
	/* Of anyone but root it is no help: the owner may do as he likes. */
	if (geteuid() != 0)
		return;
	assert_int_equal(chown(in_base("sticky"), 65534, 0), 0);
	check("sticky/file", SAFEPATH_UNSAFE, "/sticky is owned by user 65534");
	assert_int_equal(chown(in_base("sticky"), 0, 0), 0);
}

static void test_paths_that_lead_nowhere(void **state)
{
	(void)state;
	check("gone/file", SAFEPATH_MISSING, "/gone: No such file or directory");
	check("good/dangling", SAFEPATH_MISSING, "/good/gone: No such file or directory");
	check("good/file/more", SAFEPATH_MISSING, "/good/file/more: Not a directory");
	check("good/loop_a", SAFEPATH_MISSING, "/good/loop_a: Too many levels of symbolic links");
}

static void test_owners(void **state)
{
	struct safepath_policy policy = {.user = 65534, .sticky_is_fine = true};
	char *complaint = NULL;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(base, 0, 0), 0);
	assert_int_equal(chmod(base, 0755), 0);
	assert_int_equal(chown(in_base("good/file"), 65534, 0), 0);
	check("good/file", SAFEPATH_UNSAFE, "/good/file is owned by user 65534");
	assert_int_equal(safepath_check(in_base("good/file"), &policy, &complaint), SAFEPATH_SAFE);
	assert_int_equal(chown(in_base("good/file"), 0, 0), 0);
	/* A link in a sticky folder can be replaced by its owner. */
	make_link("../good/file", "sticky/link");
	check("sticky/link", SAFEPATH_SAFE, NULL);
	assert_int_equal(lchown(in_base("sticky/link"), 65534, 0), 0);
	check("sticky/link", SAFEPATH_UNSAFE, "/sticky/link is owned by user 65534");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_safe_paths),
		cmocka_unit_test(test_each_component_counts),
		cmocka_unit_test(test_sticky_helps_only_where_it_is_asked_for),
		cmocka_unit_test(test_paths_that_lead_nowhere),
		cmocka_unit_test(test_owners),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
