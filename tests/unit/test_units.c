// SPDX-License-Identifier: MIT
/* Durations and sizes: what is read, what is refused, and what is printed. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/units.h"

static void test_durations_that_are_read(void **state)
{
	static const struct {
		const char *text;
		double seconds;
	} rows[] = {{"1m30s", 90}, {"250ms", 0.25}, {"1h", 3600}, {"0s", 0}, {".5s", 0.5},
		{"1.5s", 1.5}, {"2d12h", 216000}, {"1s500ms", 1.5}, {"90m", 5400},
		{"0.1ms", 0.0001}, {"100000000000000h", 3.6e17}, {"1m.5s", 60.5}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double seconds = -1;

		assert_null(units_parse_duration(rows[i].text, &seconds));
		assert_true(seconds == rows[i].seconds);
	}
}

static void test_milliseconds_are_exact(void **state)
{
	(void)state;
	for (int milliseconds = 0; milliseconds < 10000; milliseconds++) {
		char text[16];
		double seconds = -1;

		(void)snprintf(text, sizeof(text), "%dms", milliseconds);
		assert_null(units_parse_duration(text, &seconds));
		assert_true(seconds == milliseconds / 1000.0);
	}
}

static void test_durations_that_are_refused(void **state)
{
	static const struct {
		const char *text, *reason;
	} rows[] = {{"10", "needs a unit"}, {"", "start with a number"}, {"5 s", "no blanks"},
		{"-5s", "negative"}, {"1e1s", "d, h, m, s or ms"}, {"s", "start with a number"},
		{"5S", "d, h, m, s or ms"}, {"5sec", "d, h, m, s or ms"},
		{"1s1m", "large to small"}, {"1s1s", "large to small"}, {"1.5h3m", "last number"},
		{"1.s", "follow the point"}, {"1..5s", "follow the point"}, {"1s ", "no blanks"},
		{" 1s", "start with a number"}, {"1234567890123456s", "too many digits"},
		{"1m30", "needs a unit"}, {"+5s", "start with a number"},
		{"0x10s", "d, h, m, s or ms"}, {"1us", "ms"}, {"inf", "start with a number"},
		{"1,5s", "d, h, m, s or ms"}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double seconds = 42;
		const char *reason = units_parse_duration(rows[i].text, &seconds);

		assert_non_null(reason);
		assert_non_null(strstr(reason, rows[i].reason));
		assert_true(seconds == 42);
	}
}

static void test_durations_print_in_their_shortest_form(void **state)
{
	static const struct {
		double seconds;
		const char *text;
	} rows[] = {{0, "0s"}, {2, "2s"}, {90, "1m30s"}, {0.25, "250ms"}, {16, "16s"}, {60, "1m"},
		{3600, "1h"}, {3601, "1h1s"}, {86400, "1d"}, {1.5, "1.5s"}, {0.0005, "0.5ms"},
		{0.999999, "999.999ms"}, {0.9999999, "1s"}, {90.25, "1m30.25s"}, {-1, "0s"},
		{1e-9, "0s"}, {INFINITY, "11574074d1h46m40s"}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[UNITS_DURATION_SIZE];

		units_print_duration(rows[i].seconds, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
	}
}

static void test_durations_read_back_as_printed(void **state)
{
	(void)state;
	for (unsigned long microseconds = 1; microseconds < 4000000000UL;
		microseconds += microseconds / 97 + 1) {
		double seconds = (double)microseconds / 1e6, back = 0;
		char text[UNITS_DURATION_SIZE];

		units_print_duration(seconds, text, sizeof(text));
		assert_null(units_parse_duration(text, &back));
		assert_true(fabs(back - seconds) < 1e-9);
	}
}

static void test_a_short_buffer_is_not_overrun(void **state)
{
	char text[5];

	(void)state;
	units_print_duration(3661, text, sizeof(text));
	assert_string_equal(text, "1h1m");
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		double bytes;
		const char *printed;
	} rows[] = {{"64KiB", 65536, "64KiB"}, {"512B", 512, "512B"}, {"1024B", 1024, "1KiB"},
		{"1.5MiB", 1572864, "1536KiB"}, {"2GiB", 2147483648.0, "2GiB"}, {"0B", 0, "0B"},
		{".5KiB", 512, "512B"}};
	static const char *const refused[] = {
		"10", "10KB", "10k", "", "-1B", "1.3B", "1 KiB", "1KiB1B", "KiB", "1e3B"};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[UNITS_SIZE_SIZE];
		double bytes = -1;

		assert_null(units_parse_size(rows[i].text, &bytes));
		assert_true(bytes == rows[i].bytes);
		units_print_size(bytes, text, sizeof(text));
		assert_string_equal(text, rows[i].printed);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		double bytes = 42;

		assert_non_null(units_parse_size(refused[i], &bytes));
		assert_true(bytes == 42);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations_that_are_read),
		cmocka_unit_test(test_milliseconds_are_exact),
		cmocka_unit_test(test_durations_that_are_refused),
		cmocka_unit_test(test_durations_print_in_their_shortest_form),
		cmocka_unit_test(test_durations_read_back_as_printed),
		cmocka_unit_test(test_a_short_buffer_is_not_overrun),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
