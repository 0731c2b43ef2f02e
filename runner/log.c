// SPDX-License-Identifier: MIT
/* Lines to stderr that never block. */
#include "runner/log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/output.h"

/* Under PIPE_BUF, so that a pipe takes a line whole or not at all: pipe(7). */
#define LINE_MOST 2048

static const char *const level_names[] = {
	[LOG_LEVEL_ERROR] = "error",
	[LOG_LEVEL_WARNING] = "warning",
	[LOG_LEVEL_NOTICE] = "notice",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_DEBUG] = "debug",
};

static enum log_level most = LOG_LEVEL_INFO;
static unsigned long dropped;

void log_set_level(enum log_level level)
{
	most = level;
}

bool log_parse_level(const char *name, enum log_level *ret_level)
{
	for (enum log_level level = LOG_LEVEL_ERROR; level <= LOG_LEVEL_DEBUG; level++) {
		if (strcmp(level_names[level], name) == 0) {
			*ret_level = level;
			return true;
		}
	}
	return false;
}

/* systemd.exec(5): JOURNAL_STREAM is "device:inode" of the stream to the journal. */
static bool stderr_is_the_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat status;
	char *end;

	if (stream == NULL || fstat(STDERR_FILENO, &status) != 0)
		return false;
	device = strtoull(stream, &end, 10);
	if (*end != ':')
		return false;
	inode = strtoull(end + 1, &end, 10);
	return *end == '\0' && device == status.st_dev && inode == status.st_ino;
}

static bool can_write(void)
{
	struct pollfd descriptor = {.fd = STDERR_FILENO, .events = POLLOUT};

	return poll(&descriptor, 1, 0) == 1 && (descriptor.revents & POLLOUT) != 0;
}

/* False if the line could not go out now. */
static bool put_line(enum log_level level, const char *text)
{
	char *line;
	ssize_t written;

	if (!can_write())
		return false;
	line = stderr_is_the_journal() ? xprintf("<%d>%s\n", (int)level, text)
				       : xprintf("%s: %s\n", level_names[level], text);
	do {
		written = write(STDERR_FILENO, line, strlen(line));
	} while (written < 0 && errno == EINTR);
	free(line);
	return written > 0;
}

void log_write(enum log_level level, const char *format, ...)
{
	va_list arguments;
	char *raw, *text, *lost;

	if (level > most)
		return;
	va_start(arguments, format);
	raw = xvprintf(format, arguments);
	va_end(arguments);
	text = output_clean_line(raw, strlen(raw), LINE_MOST);
	free(raw);
	if (dropped > 0) {
		lost = xprintf("%lu log line%s lost: stderr took no more", dropped,
			dropped == 1 ? " was" : "s were");
		if (put_line(LOG_LEVEL_WARNING, lost))
			dropped = 0;
		free(lost);
	}
	if (dropped > 0 || !put_line(level, text))
		dropped++;
	free(text);
}
