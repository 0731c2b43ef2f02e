// SPDX-License-Identifier: MIT
/* The words for `systemctl status`, and datagrams that never block. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runner/notify.h"

static void assert_words(const struct notify_facts *facts, const char *wanted)
{
	char *words = notify_words(facts);

	assert_string_equal(words, wanted);
	free(words);
}

static void counts_are_in_words(void **state)
{
	struct notify_facts facts = {
		.checks = 12, .by_status = {10, 1, 1}, .agent_reachable = true};

	(void)state;
	assert_words(&facts, "12 checks: 10 passing, 1 warning, 1 critical; agent reachable");
	facts = (struct notify_facts){.checks = 1, .undecided = 1, .agent_off = true};
	assert_words(&facts, "1 check: 1 undecided; no agent");
	facts = (struct notify_facts){.checks = 3, .by_status = {0, 0, 2}, .undecided = 1};
	assert_words(&facts, "3 checks: 2 critical, 1 undecided; agent unreachable");
}

static void what_is_wrong_is_in_words(void **state)
{
	struct notify_facts facts = {.checks = 2,
		.by_status = {2},
		.agent_problem = "Connection refused",
		.left_out = "conf.d/db.yaml:1:1: bad",
		.left_out_more = 2,
		.reload_error = "web.yaml:3:1: unknown key 'chekcs'"};

	(void)state;
	assert_words(&facts,
		"2 checks: 2 passing; agent unreachable: Connection refused; left out: "
		"conf.d/db.yaml:1:1: bad (and 2 more); not reloaded: web.yaml:3:1: unknown key "
		"'chekcs'");
	/* A second line would be a message of its own, and what is not UTF-8 is not shown. */
	facts = (struct notify_facts){.checks = 1,
		.by_status = {1},
		.agent_reachable = true,
		.reload_error = "a\nWATCHDOG=trigger\xff"};
	assert_words(&facts,
		"1 check: 1 passing; agent reachable; not reloaded: a "
		"WATCHDOG=trigger\xef\xbf\xbd");
}

static void a_long_line_is_cut(void **state)
{
	char problem[4000];
	const struct notify_facts facts = {.checks = 1, .by_status = {1}, .agent_problem = problem};
	char *words;

	(void)state;
	memset(problem, 'x', sizeof(problem) - 1);
	problem[sizeof(problem) - 1] = '\0';
	words = notify_words(&facts);
	assert_true(strlen(words) <= 1024);
	assert_memory_equal(words, "1 check: 1 passing; agent unreachable: xxx", 42);
	free(words);
}

/* A service manager that listens at `path`; "@" for one in the abstract name space. */
static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(path);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(length < sizeof(address.sun_path));
	memcpy(address.sun_path, path, length);
	if (*path == '@')
		address.sun_path[0] = '\0';
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
		0);
	return fd;
}

static void assert_heard(int fd, const char *wanted)
{
	char text[256];
	ssize_t length = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	assert_true(length >= 0);
	text[length] = '\0';
	assert_string_equal(text, wanted);
}

static void check_socket(const char *path)
{
	int fd = listen_at(path);
	struct notify notify;

	assert_int_equal(setenv("NOTIFY_SOCKET", path, 1), 0);
	assert_int_equal(notify_open(&notify), 0);
	assert_true(notify_send(&notify, "READY=1"));
	assert_heard(fd, "READY=1");
	/* Nobody reads: it is said that it was not taken, at once, until somebody does. */
	while (notify_send(&notify, "WATCHDOG=1"))
		;
	assert_int_equal(errno, EAGAIN);
	assert_heard(fd, "WATCHDOG=1");
	assert_true(notify_send(&notify, "WATCHDOG=1"));
	(void)close(fd);
	assert_false(notify_send(&notify, "WATCHDOG=1"));
	notify_close(&notify);
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
}

static void messages_reach_the_socket_and_never_block(void **state)
{
	char folder[] = "/tmp/probity-notify-XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/socket", folder);
	check_socket(path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	(void)snprintf(path, sizeof(path), "@probity-notify-%d", (int)getpid());
	check_socket(path);
}

static void nobody_listens(void **state)
{
	struct notify notify;
	char path[200];

	(void)state;
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
	assert_int_equal(notify_open(&notify), 0);
	assert_int_equal(notify.fd, -1);
	assert_true(notify_send(&notify, "READY=1"));
	notify_close(&notify);
	assert_int_equal(setenv("NOTIFY_SOCKET", "vsock:2:1", 1), 0);
	assert_int_equal(notify_open(&notify), -EAFNOSUPPORT);
	assert_int_equal(notify.fd, -1);
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(setenv("NOTIFY_SOCKET", path, 1), 0);
	assert_int_equal(notify_open(&notify), -ENAMETOOLONG);
	assert_int_equal(notify.fd, -1);
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
}

static void a_watchdog_is_for_its_own_process(void **state)
{
	char pid[32];
	struct notify notify;

	(void)state;
	assert_int_equal(setenv("NOTIFY_SOCKET", "/nonexistent", 1), 0);
	assert_int_equal(setenv("WATCHDOG_USEC", "10000000", 1), 0);
	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	assert_int_equal(setenv("WATCHDOG_PID", pid, 1), 0);
	assert_int_equal(notify_open(&notify), 0);
	assert_true(notify.watchdog > 9.999 && notify.watchdog < 10.001);
	notify_close(&notify);
	assert_int_equal(setenv("WATCHDOG_PID", "1", 1), 0);
	assert_int_equal(notify_open(&notify), 0);
	assert_true(notify.watchdog <= 0);
	notify_close(&notify);
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
	assert_int_equal(unsetenv("WATCHDOG_USEC"), 0);
	assert_int_equal(unsetenv("WATCHDOG_PID"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_in_words),
		cmocka_unit_test(what_is_wrong_is_in_words),
		cmocka_unit_test(a_long_line_is_cut),
		cmocka_unit_test(messages_reach_the_socket_and_never_block),
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(a_watchdog_is_for_its_own_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
