/* SPDX-License-Identifier: MIT */
/* runner/log.h: the only way to stderr while the daemon runs. */
#ifndef RUNNER_LOG_H
#define RUNNER_LOG_H

#include <stdbool.h>

/* syslog's levels, as in sd-daemon(3). */
enum log_level {
	LOG_LEVEL_ERROR = 3,
	LOG_LEVEL_WARNING = 4,
	LOG_LEVEL_NOTICE = 5,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7,
};

/* Lines above the level are not written. The default is INFO. */
void log_set_level(enum log_level level);
bool log_parse_level(const char *name, enum log_level *ret_level); /* "error" ... "debug" */

/*
 * One line of valid UTF-8, controls removed, at most 2048 bytes behind its prefix. With a "<4>"
 * prefix where stderr is the journal ($JOURNAL_STREAM names its device and inode), with "warning: "
 * elsewhere. Never blocks: a line that stderr cannot take now is dropped and counted, and the count
 * is written before the next line that goes through.
 */
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...) log_write(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...) log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
