// SPDX-License-Identifier: MIT
/* The log: what a line may hold, and that none blocks or vanishes silently. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/log.h"

#define TEXT_MOST 2048 /* as log.h says */
#define PREFIX_MOST 16

static int saved_stderr = -1;
static int reader = -1; /* of the pipe that stands in for stderr; never blocks */
static unsigned int writes;
static int next_error; /* what the next write fails with, once */

ssize_t __real_write(int fd, const void *bytes, size_t length);
ssize_t __wrap_write(int fd, const void *bytes, size_t length);

ssize_t __wrap_write(int fd, const void *bytes, size_t length)
{
	writes++;
	if (next_error != 0) {
		errno = next_error;
		next_error = 0;
		return -1;
	}
	return __real_write(fd, bytes, length);
}

static int capture(void **unused)
{
	int ends[2];

	(void)unused;
	if (pipe2(ends, O_CLOEXEC) != 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0)
		return -1;
	saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
	if (dup2(ends[1], STDERR_FILENO) < 0)
		return -1;
	(void)close(ends[1]);
	reader = ends[0];
	writes = 0;
	(void)unsetenv("JOURNAL_STREAM");
	log_set_level(LOG_LEVEL_INFO);
	return 0;
}

static int release(void **unused)
{
	(void)unused;
	(void)dup2(saved_stderr, STDERR_FILENO);
	(void)close(saved_stderr);
	(void)close(reader);
	return 0;
}

/* All that was written so far, terminated. */
static const char *written(void)
{
	static char text[1 << 17];
	size_t used = 0;
	ssize_t count;

	while ((count = read(reader, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)count;
	text[used] = '\0';
	assert_int_equal(strlen(text), used);
	return text;
}

static void a_line_names_its_level(void **unused)
{
	(void)unused;
	log_error("one %d", 1);
	assert_string_equal(written(), "error: one 1\n");
	log_warning("two");
	log_notice("three");
	log_info("four");
	assert_string_equal(written(), "warning: two\nnotice: three\ninfo: four\n");
	assert_int_equal(writes, 4);
}

static void lines_above_the_level_stay_away(void **unused)
{
	enum log_level level = LOG_LEVEL_INFO;

	(void)unused;
	log_debug("hidden");
	assert_string_equal(written(), "");
	assert_true(log_parse_level("debug", &level));
	log_set_level(level);
	log_debug("shown");
	assert_string_equal(written(), "debug: shown\n");
	assert_true(log_parse_level("error", &level));
	log_set_level(level);
	log_warning("hidden");
	assert_string_equal(written(), "");
	assert_false(log_parse_level("", &level));
	assert_false(log_parse_level("Error", &level));
	assert_int_equal(level, LOG_LEVEL_ERROR);
}

static void set_journal(unsigned long long device, unsigned long long inode, const char *rest)
{
	char stream[64];

	(void)snprintf(stream, sizeof(stream), "%llu:%llu%s", device, inode, rest);
	assert_int_equal(setenv("JOURNAL_STREAM", stream, 1), 0);
}

static void the_journal_gets_priorities(void **unused)
{
	struct stat status;

	(void)unused;
	assert_int_equal(fstat(STDERR_FILENO, &status), 0);
	set_journal(status.st_dev, status.st_ino, "");
	log_warning("to the journal");
	log_error("too");
	assert_string_equal(written(), "<4>to the journal\n<3>too\n");
}

static void a_journal_elsewhere_is_not_stderr(void **unused)
{
	struct stat status;

	(void)unused;
	assert_int_equal(fstat(STDERR_FILENO, &status), 0);
	set_journal(status.st_dev, status.st_ino + 1, "");
	log_warning("a");
	set_journal(status.st_dev + 1, status.st_ino, "");
	log_warning("b");
	set_journal(status.st_dev, status.st_ino, "0x");
	log_warning("c");
	assert_int_equal(setenv("JOURNAL_STREAM", "", 1), 0);
	log_warning("d");
	assert_string_equal(written(), "warning: a\nwarning: b\nwarning: c\nwarning: d\n");
}

static void controls_never_reach_the_terminal(void **unused)
{
	(void)unused;
	log_info("a\nb\r\033[31mc\x7f\xc2\x9bz \xff.");
	assert_string_equal(written(), "info: a b[31mcz \xef\xbf\xbd.\n");
}

static void a_long_line_is_cut(void **unused)
{
	char *text = malloc(10000);
	size_t length;

	(void)unused;
	assert_non_null(text);
	memset(text, 'x', 9999);
	text[9999] = '\0';
	log_info("%s", text);
	length = strlen(written());
	assert_in_range(length, TEXT_MOST / 2, TEXT_MOST + PREFIX_MOST);
	assert_int_equal(writes, 1);
	free(text);
}

/* Fills the pipe through the log; returns how many lines it takes. */
static unsigned int fill(void)
{
	unsigned int before;
	unsigned int lines = 0;

	do {
		before = writes;
		log_info("%01000d", 7);
		lines++;
	} while (writes > before);
	return lines - 1; /* the last was dropped */
}

static void a_full_stderr_drops_and_counts(void **unused)
{
	unsigned int taken;
	const char *text;

	(void)unused;
	taken = fill();
	assert_in_range(taken, 10, 100);
	log_error("lost");
	log_error("lost too");
	text = written();
	assert_null(strstr(text, "lost"));
	log_error("seen");
	assert_string_equal(
		written(), "warning: 3 log lines were lost: stderr took no more\nerror: seen\n");
	log_error("again");
	assert_string_equal(written(), "error: again\n");
}

static void a_failed_write_is_a_lost_line(void **unused)
{
	(void)unused;
	next_error = EINTR;
	log_info("interrupted");
	assert_string_equal(written(), "info: interrupted\n");
	next_error = ENOSPC;
	log_info("no room");
	log_info("room");
	assert_string_equal(
		written(), "warning: 1 log line was lost: stderr took no more\ninfo: room\n");
}

/* True if the text is one line of valid UTF-8 without a control. */
static bool is_clean(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t length = strlen(text);

	if (length == 0 || c[length - 1] != '\n')
		return false;
	for (size_t i = 0; i < length - 1; i++) {
		size_t more = c[i] < 0x80 ? 0 : c[i] < 0xe0 ? 1 : c[i] < 0xf0 ? 2 : 3;

		if ((c[i] < ' ' && c[i] != '\t') || c[i] == 0x7f || (c[i] >= 0x80 && c[i] < 0xc2) ||
			c[i] > 0xf4 || (c[i] == 0xc2 && c[i + 1] < 0xa0) ||
			(c[i] == 0xed && c[i + 1] >= 0xa0))
			return false;
		for (; more > 0; more--) {
			i++;
			if ((c[i] & 0xc0) != 0x80)
				return false;
		}
	}
	return true;
}

/* A fixed seed: a failure comes back. Weighted towards bytes that start or break sequences. */
static void any_bytes_make_one_clean_line(void **unused)
{
	static const unsigned char nasty[] = {0x1b, '\n', '\r', 0x7f, 0x80, 0x9b, 0xc2, 0xe0, 0xed,
		0xa0, 0xef, 0xf0, 0x90, 0xf4, 0xff, 'a'};
	unsigned int seed = 20;

	(void)unused;
	for (int round = 0; round < 1000; round++) {
		char text[3000];
		size_t length = (size_t)rand_r(&seed) % (round % 8 == 0 ? sizeof(text) : 24);
		const char *line;

		for (size_t i = 0; i < length; i++) {
			int pick = rand_r(&seed);

			text[i] = (char)(pick % 3 == 0 ? pick / 3 % 255 + 1
						       : nasty[pick / 3 % (int)sizeof(nasty)]);
		}
		text[length < sizeof(text) ? length : length - 1] = '\0';
		log_info("%s", text);
		line = written();
		if (!is_clean(line) || strlen(line) > TEXT_MOST + PREFIX_MOST)
			fail_msg("round %d: %s", round, line);
	}
	assert_int_equal(writes, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_line_names_its_level, capture, release),
		cmocka_unit_test_setup_teardown(lines_above_the_level_stay_away, capture, release),
		cmocka_unit_test_setup_teardown(the_journal_gets_priorities, capture, release),
		cmocka_unit_test_setup_teardown(
			a_journal_elsewhere_is_not_stderr, capture, release),
		cmocka_unit_test_setup_teardown(
			controls_never_reach_the_terminal, capture, release),
		cmocka_unit_test_setup_teardown(a_long_line_is_cut, capture, release),
		cmocka_unit_test_setup_teardown(a_full_stderr_drops_and_counts, capture, release),
		cmocka_unit_test_setup_teardown(a_failed_write_is_a_lost_line, capture, release),
		cmocka_unit_test_setup_teardown(any_bytes_make_one_clean_line, capture, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
