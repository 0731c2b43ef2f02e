// SPDX-License-Identifier: MIT
/* Who owns a runtime directory, and the socket in it. */
#include "runner/control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/arena.h"

#define BACKLOG 16 /* a few people and one monitoring system at the same moment */

/*
 * The kernel drops the lock when its holder dies, however it dies; a connection as the
 * test would fail with a frozen holder, and between another's bind and listen.
 */
static int lock_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	result = -errno;
	(void)close(fd);
	return result;
}

/* Takes away what an earlier process left; anything but a socket is somebody's and stays. */
static int remove_stale(const char *path)
{
	struct stat status;

	if (lstat(path, &status) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(status.st_mode))
		return -ENOTSOCK;
	return unlink(path) == 0 ? 0 : -errno;
}

static int bind_and_listen(int fd, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t mask;
	int result;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	result = remove_stale(path);
	if (result < 0)
		return result;
	/* unix(7): the umask makes the mode. We have one thread, so nobody else sees it. */
	mask = umask(0117);
	result = bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : -errno;
	(void)umask(mask);
	if (result < 0)
		return result;
	if (listen(fd, BACKLOG) == 0)
		return 0;
	result = -errno;
	(void)unlink(path);
	return result;
}

/* A listening socket, or negative errno. */
static int listen_at(const char *path)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int result;

	if (fd < 0)
		return -errno;
	result = bind_and_listen(fd, path);
	if (result == 0)
		return fd;
	(void)close(fd);
	return result;
}

bool control_socket_open(struct control_socket *control, const char *runtime_dir, char **ret_error)
{
	char *path;
	int lock = lock_directory(runtime_dir);
	int fd;

	if (lock == -EWOULDBLOCK) {
		*ret_error = xprintf("%s: another probity runs with this runtime directory; stop "
				     "it, or give this one its own --runtime-dir",
			runtime_dir);
		return false;
	}
	if (lock < 0) {
		*ret_error = xprintf(
			"%s: cannot lock the runtime directory: %s", runtime_dir, strerror(-lock));
		return false;
	}
	path = xprintf("%s/%s", runtime_dir, CONTROL_SOCKET_NAME);
	fd = listen_at(path);
	if (fd >= 0) {
		*control = (struct control_socket){.path = path, .lock = lock, .fd = fd};
		return true;
	}
	*ret_error = xprintf("%s: cannot listen: %s", path, strerror(-fd));
	(void)close(lock);
	free(path);
	return false;
}

void control_socket_close(struct control_socket *control)
{
	(void)unlink(control->path); /* before the lock goes: it may be another's after that */
	if (control->fd >= 0)
		(void)close(control->fd);
	(void)close(control->lock);
	free(control->path);
	*control = (struct control_socket){.lock = -1, .fd = -1};
}
