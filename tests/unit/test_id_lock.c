// SPDX-License-Identifier: MIT
/* Two holders in one directory tree. A lock is one open file's, so one process plays both. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/id_lock.h"

static char top[] = "/tmp/probity-ids-XXXXXX";
static char path[200];
static char said[600];

static const char *under(const char *name)
{
	(void)snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

static int make_tree(void **unused)
{
	(void)unused;
	return mkdtemp(top) == NULL || mkdir(under("probity"), 0700) != 0 ||
		mkdir(under("probity/web"), 0700) != 0 || mkdir(under("probity/db"), 0700) != 0 ||
		mkdir(under("else"), 0700) != 0;
}

static int drop_tree(void **unused)
{
	static const char *const names[] = {"probity/ids.lock", "probity/web/ids", "else/ids.lock",
		"probity/db/ids", "probity/ids", "else/ids"};
	static const char *const folders[] = {"probity/web", "probity/db", "probity", "else", "."};
	int result = 0;

	(void)unused;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlink(under(names[i]));
	for (size_t i = 0; i < 4; i++)
		result |= rmdir(under(folders[i]));
	return result | rmdir(top);
}

/* Takes checks of these ids, each in a line of its own; false with what was said. */
static bool take(struct id_lock *lock, const char *const ids[])
{
	struct check_conf checks[4] = {0};
	struct settings settings = {.path = "/etc/probity/a.yaml", .checks = checks};
	struct conf_diag *diag = diag_create();
	char *problem = NULL;
	bool fine;

	for (size_t i = 0; ids[i] != NULL; i++) {
		checks[i].id = ids[i];
		checks[i].mark = (struct conf_mark){"b.yaml", (unsigned int)i + 1, 3};
		settings.check_count++;
	}
	fine = id_lock_take(lock, &settings, diag, &problem);
	assert_null(problem);
	assert_int_equal(fine, diag_errors(diag) == 0);
	said[0] = '\0';
	for (size_t i = 0; i < diag_errors(diag); i++)
		(void)snprintf(said + strlen(said), sizeof(said) - strlen(said), "%u:%s\n",
			diag_at(diag, i)->mark.line, diag_at(diag, i)->text);
	diag_destroy(diag);
	return fine;
}

#define IDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void holders_are_named(void **unused)
{
	struct id_lock *web = id_lock_create(under("probity/web"));
	struct id_lock *db = id_lock_create(under("probity/db"));
	struct id_lock *host = id_lock_create(under("probity"));
	char wanted[600];

	(void)unused;
	assert_true(take(web, IDS("a", "b")));
	assert_true(take(db, IDS("c")));
	assert_false(take(host, IDS("x", "b", "c")));
	(void)snprintf(wanted, sizeof(wanted),
		"2:check id 'b' is held by another probity that runs, pid %d with the "
		"configuration /etc/probity/a.yaml; stop it, or give this check another name or "
		"id\n3:check id 'c' is held by another probity that runs, pid %d with the "
		"configuration /etc/probity/a.yaml; stop it, or give this check another name or "
		"id\n",
		getpid(), getpid());
	assert_string_equal(said, wanted);
	assert_true(take(host, IDS("x")));
	assert_false(take(db, IDS("x")));
	id_lock_destroy(host);
	id_lock_destroy(db);
	id_lock_destroy(web);
}

static void a_reload_takes_and_lets_go(void **unused)
{
	struct id_lock *web = id_lock_create(under("probity/web"));
	struct id_lock *db = id_lock_create(under("probity/db"));

	(void)unused;
	assert_true(take(web, IDS("a", "b")));
	assert_true(take(db, IDS("c")));
	assert_false(take(web, IDS("a", "c")));
	assert_false(take(db, IDS("b"))); /* it still holds what it held */
	assert_true(take(web, IDS("a")));
	assert_true(take(db, IDS("b")));
	assert_false(take(web, IDS("b")));
	id_lock_destroy(web);
	id_lock_destroy(db);
}

static void the_dead_hold_nothing(void **unused)
{
	struct id_lock *web = id_lock_create(under("probity/web"));
	struct id_lock *db = id_lock_create(under("probity/db"));
	int fd = open(under("probity/db/ids"), O_WRONLY | O_CREAT, 0600);
	static const char text[] = "{\"pid\":1,\"configuration\":\"x\",\"ids\":[\"a\"]}";

	(void)unused;
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	assert_int_equal(close(fd), 0);
	assert_true(take(web, IDS("a")));
	assert_true(take(db, IDS("b"))); /* over what its predecessor left */
	id_lock_destroy(db);
	assert_int_equal(access(under("probity/db/ids"), F_OK), -1);
	assert_true(take(web, IDS("b")));
	id_lock_destroy(web);
}

static void other_trees_are_apart(void **unused)
{
	struct id_lock *web = id_lock_create(under("probity/web"));
	struct id_lock *other = id_lock_create(under("else"));

	(void)unused;
	assert_true(take(web, IDS("a")));
	assert_true(take(other, IDS("a")));
	id_lock_destroy(web);
	id_lock_destroy(other);
}

static void what_cannot_be_locked_is_said_and_runs(void **unused)
{
	struct id_lock *lock = id_lock_create("/nonexistent/probity/web");
	struct settings settings = {.path = "x"};
	struct conf_diag *diag = diag_create();
	char *problem = NULL;

	(void)unused;
	assert_true(id_lock_take(lock, &settings, diag, &problem));
	assert_non_null(strstr(problem, "might not be noticed: No such file or directory"));
	free(problem);
	diag_destroy(diag);
	id_lock_destroy(lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holders_are_named),
		cmocka_unit_test(a_reload_takes_and_lets_go),
		cmocka_unit_test(the_dead_hold_nothing),
		cmocka_unit_test(other_trees_are_apart),
		cmocka_unit_test(what_cannot_be_locked_is_said_and_runs),
	};

	return cmocka_run_group_tests(tests, make_tree, drop_tree);
}
