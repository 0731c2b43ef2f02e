// SPDX-License-Identifier: MIT
/* One daemon a runtime directory, and a socket that only its group can use. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/control_socket.h"

static char dir[] = "/tmp/probity-control-XXXXXX";
static char path[64];
static int bind_error, listen_error; /* what the next call fails with, 0: it does not */

int __real_bind(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length);
int __real_listen(int fd, int backlog);
int __wrap_listen(int fd, int backlog);

static int fail_with(int *error)
{
	errno = *error;
	*error = 0;
	return -1;
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length)
{
	return bind_error != 0 ? fail_with(&bind_error) : __real_bind(fd, address, length);
}

int __wrap_listen(int fd, int backlog)
{
	return listen_error != 0 ? fail_with(&listen_error) : __real_listen(fd, backlog);
}

static int make_dir(void **unused)
{
	(void)unused;
	if (mkdtemp(dir) == NULL)
		return -1;
	(void)snprintf(path, sizeof(path), "%s/%s", dir, CONTROL_SOCKET_NAME);
	return 0;
}

static int drop_dir(void **unused)
{
	(void)unused;
	(void)unlink(path);
	return rmdir(dir);
}

static void open_fine(struct control_socket *control)
{
	char *error = NULL;

	if (!control_socket_open(control, dir, &error))
		fail_msg("%s", error);
	assert_null(error);
}

static void expect_refusal(const char *directory, const char *said)
{
	struct control_socket control = {0};
	char *error = NULL;

	assert_false(control_socket_open(&control, directory, &error));
	assert_non_null(error);
	if (strstr(error, said) == NULL)
		fail_msg("'%s' does not say '%s'", error, said);
	assert_null(control.path);
	free(error);
}

static bool connects(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int result;

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	result = connect(fd, (const struct sockaddr *)&address, sizeof(address));
	(void)close(fd);
	return result == 0;
}

static void only_owner_and_group_may_connect(void **unused)
{
	struct control_socket control;
	mode_t mask = umask(0); /* the mode must not hang on the umask */
	struct stat status;

	(void)unused;
	open_fine(&control);
	assert_int_equal(umask(mask), 0);
	assert_int_equal(lstat(path, &status), 0);
	assert_true(S_ISSOCK(status.st_mode));
	assert_int_equal(status.st_mode & 07777, 0660);
	assert_true(connects());
	assert_int_equal(fcntl(control.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fcntl(control.lock, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fcntl(control.fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	control_socket_close(&control);
	assert_int_equal(lstat(path, &status), -1);
}

static void a_second_one_is_refused_and_harms_nothing(void **unused)
{
	struct control_socket control;

	(void)unused;
	open_fine(&control);
	expect_refusal(dir, "another probity runs with this runtime directory");
	assert_true(connects());
	control_socket_close(&control);
	open_fine(&control);
	control_socket_close(&control);
}

/* A holder that stands still answers nobody, and is there all the same. */
static void a_frozen_holder_holds_and_a_dead_one_does_not(void **unused)
{
	struct control_socket control;
	int status;
	pid_t pid = fork();

	(void)unused;
	if (pid == 0) {
		char *error;

		if (!control_socket_open(&control, dir, &error))
			_exit(1);
		(void)raise(SIGSTOP);
		_exit(2);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	expect_refusal(dir, "another probity");
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(access(path, F_OK), 0); /* it left its socket */
	assert_false(connects());
	open_fine(&control);
	assert_true(connects());
	control_socket_close(&control);
}

static void a_file_of_somebody_is_never_removed(void **unused)
{
	struct stat status;
	FILE *file = fopen(path, "w");

	(void)unused;
	assert_non_null(file);
	(void)fclose(file);
	expect_refusal(dir, "control.sock: cannot listen: Socket operation on non-socket");
	assert_int_equal(lstat(path, &status), 0);
	assert_true(S_ISREG(status.st_mode));
	(void)unlink(path);
}

static void a_failure_leaves_nothing_held(void **unused)
{
	struct control_socket control;

	(void)unused;
	bind_error = ENOSPC;
	expect_refusal(dir, "cannot listen: No space left on device");
	listen_error = ENOBUFS;
	expect_refusal(dir, "cannot listen: No buffer space available");
	assert_int_equal(access(path, F_OK), -1);
	open_fine(&control);
	control_socket_close(&control);
}

static void a_directory_that_does_not_do_is_named(void **unused)
{
	char deep[200];

	(void)unused;
	expect_refusal("/nonexistent", "/nonexistent: cannot lock the runtime directory: No such");
	expect_refusal("/dev/null", "/dev/null: cannot lock the runtime directory: Not a");
	(void)snprintf(deep, sizeof(deep), "%s/%0120d", dir, 7);
	assert_int_equal(mkdir(deep, 0700), 0);
	expect_refusal(deep, "cannot listen: File name too long");
	assert_int_equal(rmdir(deep), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_owner_and_group_may_connect),
		cmocka_unit_test(a_second_one_is_refused_and_harms_nothing),
		cmocka_unit_test(a_frozen_holder_holds_and_a_dead_one_does_not),
		cmocka_unit_test(a_file_of_somebody_is_never_removed),
		cmocka_unit_test(a_failure_leaves_nothing_held),
		cmocka_unit_test(a_directory_that_does_not_do_is_named),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
