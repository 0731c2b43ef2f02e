// SPDX-License-Identifier: MIT
/* Tables: columns, colour, and durations for people. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runner/table.h"

static const char *const titles[] = {"STATUS", "NAME", "OUTPUT", NULL};

static struct table *sample(void)
{
	struct table *table = table_create(titles);

	table_add(table, (const char *const[]){"passing", "short", "fine"});
	table_add(table, (const char *const[]){"critical", "a-longer-name", "HTTP 500"});
	table_add_note(table, "403 Permission denied");
	table_add(table, (const char *const[]){"warning", "\xc3\xa4\xe2\x82\xac", NULL});
	return table;
}

static void expect_print(const struct table *table, bool colour, const char *expected)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	assert_non_null(stream);
	table_print(table, colour, stream);
	assert_int_equal(fclose(stream), 0);
	assert_string_equal(text, expected);
	free(text);
}

static void columns_are_as_wide_as_their_widest_cell(void **unused)
{
	struct table *table = sample();

	(void)unused;
	expect_print(table, false,
		"STATUS    NAME           OUTPUT\n"
		"passing   short          fine\n"
		"critical  a-longer-name  HTTP 500\n"
		"    403 Permission denied\n"
		"warning   \xc3\xa4\xe2\x82\xac             \n");
	table_destroy(table);
}

static void only_statuses_are_coloured(void **unused)
{
	struct table *table = sample();

	(void)unused;
	table_add(table, (const char *const[]){"undecided", "x", "passing by"});
	expect_print(table, true,
		"STATUS     NAME           OUTPUT\n"
		"\033[32mpassing\033[0m    short          fine\n"
		"\033[1;31mcritical\033[0m   a-longer-name  HTTP 500\n"
		"    403 Permission denied\n"
		"\033[33mwarning\033[0m    \xc3\xa4\xe2\x82\xac             \n"
		"undecided  x              passing by\n");
	table_destroy(table);
}

static void a_cell_cannot_leave_its_line(void **unused)
{
	struct table *table = table_create(titles);

	(void)unused;
	table_add(table, (const char *const[]){"passing", "a\tb", "c\nd\033[2J"});
	table_add_note(table, "e\nf");
	expect_print(table, false,
		"STATUS   NAME  OUTPUT\n"
		"passing  a b   c d [2J\n"
		"    e f\n");
	table_destroy(table);
	table_destroy(NULL);
}

/* The table as a terminal of that width gets it, carriage returns left out. */
static void print_on_terminal(
	const struct table *table, unsigned short columns, char *text, size_t size)
{
	struct winsize window = {.ws_row = 24, .ws_col = columns};
	size_t used = 0;
	int master, slave;
	ssize_t count;
	FILE *stream;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, &window), 0);
	stream = fdopen(slave, "w");
	assert_non_null(stream);
	assert_int_equal(setenv("TERM", "xterm", 1), 0);
	assert_int_equal(unsetenv("NO_COLOR"), 0);
	assert_true(table_wants_colour(stream));
	assert_int_equal(setenv("TERM", "dumb", 1), 0);
	assert_false(table_wants_colour(stream));
	assert_int_equal(setenv("TERM", "xterm", 1), 0);
	assert_int_equal(setenv("NO_COLOR", "1", 1), 0);
	assert_false(table_wants_colour(stream));
	assert_int_equal(unsetenv("TERM"), 0);
	assert_int_equal(unsetenv("NO_COLOR"), 0);
	assert_false(table_wants_colour(stream));
	table_print(table, false, stream);
	(void)fflush(stream);
	assert_int_equal(fcntl(master, F_SETFL, O_NONBLOCK), 0);
	while ((count = read(master, text + used, size - 1 - used)) > 0)
		used += (size_t)count;
	text[used] = '\0';
	(void)fclose(stream);
	(void)close(master);
}

static void a_terminal_cuts_the_last_column(void **unused)
{
	struct table *table = table_create(titles);
	char text[1024];

	(void)unused;
	table_add(table,
		(const char *const[]){"passing", "n",
			"0123456789\xe2\x82\xac"
			"123456789ABCDEFGHIJ"});
	print_on_terminal(table, 35, text, sizeof(text));
	assert_string_equal(text,
		"STATUS   NAME  OUTPUT\r\n"
		"passing  n     0123456789\xe2\x82\xac"
		"123456789\r\n");
	print_on_terminal(table, 12, text, sizeof(text)); /* too narrow for any of it */
	assert_non_null(strstr(text,
		"0123456789\xe2\x82\xac"
		"123456789\r\n"));
	print_on_terminal(table, 200, text, sizeof(text));
	assert_non_null(strstr(text, "ABCDEFGHIJ\r\n"));
	table_destroy(table);
}

static void a_file_is_never_coloured(void **unused)
{
	FILE *file = fopen("/dev/null", "w");

	(void)unused;
	assert_int_equal(setenv("TERM", "xterm", 1), 0);
	assert_non_null(file);
	assert_false(table_wants_colour(file));
	(void)fclose(file);
}

static void durations_read_at_a_glance(void **unused)
{
	static const struct {
		double seconds;
		const char *text;
	} rows[] = {
		{-1, "-"},
		{0, "0ms"},
		{0.0449, "45ms"},
		{0.9994, "999ms"},
		{0.9996, "1.0s"},
		{3.21, "3.2s"},
		{59.94, "59.9s"},
		{59.96, "1m00s"},
		{125, "2m05s"},
		{3599.4, "59m59s"},
		{3599.6, "1h00m"},
		{11520, "3h12m"},
		{86400, "1d00h"},
		{357000, "4d03h"},
		{1e300, "11574074074d01h"},
	};
	char text[32];

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		table_duration(rows[i].seconds, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
		cmocka_unit_test(only_statuses_are_coloured),
		cmocka_unit_test(a_cell_cannot_leave_its_line),
		cmocka_unit_test(a_terminal_cuts_the_last_column),
		cmocka_unit_test(a_file_is_never_coloured),
		cmocka_unit_test(durations_read_at_a_glance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
