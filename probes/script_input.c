// SPDX-License-Identifier: MIT
/* What a script reads on its standard input: a file in memory, written before it starts. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/script.h"

/* Bytes, the prefix included. It is memory for as long as the script holds it open. */
#define INPUT_MOST ((size_t)1024 * 1024)
#define INPUT_TOO_LONG "longer than 1 MiB"

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3 */
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/*
 * In place of a pipe: nobody has to write while the script runs, so one that reads
 * slowly, never, or not to the end concerns nobody. Negative errno.
 */
static int open_memory(void)
{
	int fd = memfd_create("stdin", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("stdin", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* 0 or negative errno. */
static int put(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t written = write(fd, bytes, length);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			bytes += written;
			length -= (size_t)written;
		}
	}
	return 0;
}

/* Copies a file's bytes, as they are; 0 or negative errno of fd. *ret_problem is of the source. */
static int copy(int fd, int source, size_t room, const char **ret_problem)
{
	char bytes[16384];
	int result = 0;

	while (result == 0) {
		ssize_t got = read(source, bytes, sizeof(bytes));

		if (got == 0)
			break;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || (size_t)got > room) {
			*ret_problem = got < 0 ? strerror(errno) : INPUT_TOO_LONG;
			break;
		}
		result = put(fd, bytes, (size_t)got);
		room -= (size_t)got;
	}
	explicit_bzero(bytes, sizeof(bytes));
	return result;
}

static int copy_file(int fd, const char *path, size_t room, const char **ret_problem)
{
	/* Not blocking: a FIFO without a writer would stop the loop in open(). */
	int source = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;
	int result = 0;

	if (source < 0) {
		*ret_problem = strerror(errno);
		return 0;
	}
	if (fstat(source, &status) == 0 && !S_ISREG(status.st_mode))
		*ret_problem = "not a regular file";
	else
		result = copy(fd, source, room, ret_problem);
	(void)close(source);
	return result;
}

/* 0 or negative errno; *ret_problem where the source is at fault. */
static int fill(int fd, const struct conf_secret *source, const char **ret_problem)
{
	const char *text = source->file != NULL ? source->prefix : source->value;
	size_t length = text == NULL ? 0 : strlen(text);
	int result;

	if (length > INPUT_MOST) {
		*ret_problem = INPUT_TOO_LONG;
		return 0;
	}
	result = put(fd, text, length);
	if (result == 0 && source->file != NULL)
		result = copy_file(fd, source->file, INPUT_MOST - length, ret_problem);
	if (result == 0 && lseek(fd, 0, SEEK_SET) < 0)
		result = -errno;
	return result;
}

int script_input(const struct conf_secret *source, char **ret_error)
{
	const char *problem = NULL;
	int fd, result;

	if (source->value == NULL && source->file == NULL)
		return 0;
	fd = open_memory();
	if (fd < 0)
		return fd;
	result = fill(fd, source, &problem);
	if (problem != NULL)
		*ret_error = source->file == NULL ? xprintf("stdin: %s", problem)
						  : xprintf("stdin: %s: %s", source->file, problem);
	if (problem == NULL && result == 0)
		return fd;
	(void)close(fd);
	return result;
}
