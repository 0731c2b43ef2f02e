// SPDX-License-Identifier: MIT
/* The value of a secret at this moment, from the configuration or from its file. */
#include "probes/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/arena.h"

static char *join(const char *prefix, const char *value, size_t length)
{
	size_t before = prefix == NULL ? 0 : strlen(prefix);
	char *joined = xcalloc(before + length + 1, 1);

	memcpy(stpcpy(joined, prefix == NULL ? "" : prefix), value, length);
	return joined;
}

/* Reads up to SECRET_MAX + 1 bytes. Returns the number, or negative errno. */
static ssize_t read_all(int fd, char *bytes)
{
	size_t length = 0;

	while (length <= SECRET_MAX) {
		ssize_t got = read(fd, bytes + length, SECRET_MAX + 1 - length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		length += (size_t)got;
	}
	return (ssize_t)length;
}

/* Fills bytes with a file's contents, without trailing newlines; NULL, or what is wrong. */
static const char *read_secret_file(const char *path, char *bytes, size_t *ret_length)
{
	/* Not blocking: a FIFO without a writer would stop the loop in open(). */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;
	ssize_t length;

	if (fd < 0)
		return strerror(errno);
	if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode)) {
		(void)close(fd);
		return "not a regular file";
	}
	length = read_all(fd, bytes);
	(void)close(fd);
	if (length < 0)
		return strerror((int)-length);
	if (length > SECRET_MAX)
		return "too long for a secret (over 64 KiB)";
	while (length > 0 && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r'))
		length--;
	/* An empty file is one that is being written: better no request than one without proof. */
	if (length == 0)
		return "the file is empty";
	if (memchr(bytes, '\0', (size_t)length) != NULL)
		return "the file holds a NUL byte";
	*ret_length = (size_t)length;
	return NULL;
}

char *secret_read(const struct conf_secret *secret, char **ret_error)
{
	const char *problem;
	size_t length = 0;
	char *bytes, *value = NULL;

	if (secret->file == NULL) {
		*ret_error = NULL;
		return secret->value == NULL
			? NULL
			: join(secret->prefix, secret->value, strlen(secret->value));
	}
	bytes = xcalloc(SECRET_MAX + 1, 1);
	problem = read_secret_file(secret->file, bytes, &length);
	if (problem != NULL)
		*ret_error = xprintf("%s: %s", secret->file, problem);
	else
		value = join(secret->prefix, bytes, length);
	explicit_bzero(bytes, SECRET_MAX + 1);
	free(bytes);
	return value;
}

void secret_free(char *value)
{
	if (value == NULL)
		return;
	explicit_bzero(value, strlen(value));
	free(value);
}

char *secret_hide(const char *secret, const char *bytes, size_t *length)
{
	static const char mark[] = "***";
	size_t width = secret == NULL ? 0 : strlen(secret), filled = 0;
	const char *at = bytes, *end = bytes + *length, *found;
	/* The mark is longer than a secret of one or two bytes, each of which may be one. */
	char *shown = xcalloc(*length * strlen(mark) + 1, 1);

	while (width > 0 && (found = memmem(at, (size_t)(end - at), secret, width)) != NULL) {
		memcpy(shown + filled, at, (size_t)(found - at));
		filled += (size_t)(found - at);
		filled = (size_t)(stpcpy(shown + filled, mark) - shown);
		at = found + width;
	}
	memcpy(shown + filled, at, (size_t)(end - at));
	*length = filled + (size_t)(end - at);
	return shown;
}
