// SPDX-License-Identifier: MIT
/* Performance data: what plugins write, what is none, and every way to cut it into pieces. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/perfdata.h"

static char found[4096];

/* "label=value/unit " for a number, "label?text " for what is none. */
static void on_found(void *owner, const struct perfdata_value *value)
{
	size_t length = strlen(found);

	assert_ptr_equal(owner, found);
	assert_true(length < sizeof(found) - PERFDATA_ITEM_MOST);
	if (value->type == PERFDATA_NUMBER)
		(void)snprintf(found + length, sizeof(found) - length, "%s=%.15g/%s ", value->label,
			value->value, value->unit);
	else
		(void)snprintf(found + length, sizeof(found) - length, "%s%s%s ", value->label,
			value->type == PERFDATA_UNKNOWN ? "!" : "?", value->text);
	assert_true((value->type == PERFDATA_NUMBER) == (isfinite(value->value) != 0));
}

/* Parses in pieces of `piece` bytes, each in memory of its own size. */
static const char *parse(const char *bytes, size_t length, size_t piece)
{
	struct perfdata perfdata = {.found = on_found, .owner = found};

	found[0] = '\0';
	for (size_t at = 0; at < length; at += piece) {
		size_t size = length - at < piece ? length - at : piece;
		char *copy = malloc(size);

		memcpy(copy, bytes + at, size);
		perfdata_take(&perfdata, copy, size);
		free(copy);
	}
	perfdata_end(&perfdata);
	return found;
}

static void test_what_plugins_write(void **state)
{
	static const struct {
		const char *output, *found;
	} rows[] = {
		{"", ""},
		{"OK", ""},
		{"OK a=1", ""},
		{"OK|", ""},
		{"OK | a=1", "a=1/ "},
		{"OK|a=1", "a=1/ "},
		{"OK - load average: 0.61, 0.50, 0.40|load1=0.610;4.000;8.000;0; "
		 "load5=0.500;3.000;6.000;0; load15=0.400;2.000;4.000;0;\n",
			"load1=0.61/ load5=0.5/ load15=0.4/ "},
		{"DISK OK| /=2643MB;5948;5958;0;5968 '/srv/a b'=10%\n", "/=2643/MB /srv/a b=10/% "},
		{"x|rta=0.025000ms;100;500;0 pl=0%;20;60;0;100", "rta=0.025/ms pl=0/% "},
		{"x | a=1s b=2us c=3c d=4KB e=5.5TB f=-1 g=+2 h=.5 i=1e3 j=1.5e-02s k=2e",
			"a=1/s b=2/us c=3/c d=4/KB e=5.5/TB f=-1/ g=2/ h=0.5/ i=1000/ j=0.015/s "
			"k=2/e "},
		{"x | ''=1 'it''s'=2 '''q'''=3 'a=b'=4 'a|b'=5", "it's=2/ 'q'=3/ a=b=4/ a|b=5/ "},
		{"x | users=U procs=U;1;2", "users!U procs!U "},
		{"x | temp=21.5\xc2\xb0"
		 "C",
			"temp=21.5/\xc2\xb0"
			"C "},
		/* Several lines: text up to the next bar, then data to the end. */
		{"x | a=1\nlong text b=2\nmore | c=3\nd=4\ne=5 f=6", "a=1/ c=3/ d=4/ e=5/ f=6/ "},
		{"x\nlong text\n| c=3\nd=4", "c=3/ d=4/ "},
		{"x\r\n|c=3\r\nd=4\r\n", "c=3/ d=4/ "},
		{"x | a=1 | b=2", "a=1/ b=2/ "},
		{"\n|a=1", "a=1/ "},
		{"| a=1", "a=1/ "},
		/* The same label again counts again. */
		{"x | a=1 a=2", "a=1/ a=2/ "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t length = strlen(rows[i].output);

		for (size_t piece = 1; piece <= length + 1; piece++)
			assert_string_equal(parse(rows[i].output, length, piece), rows[i].found);
	}
}

static void test_what_is_none_is_passed_over(void **state)
{
	static const struct {
		const char *output, *found;
	} rows[] = {
		{"x | nothing here = 5 =6 a= b=; c", "a? b? "},
		{"x | a=1,5 b=1,234 c=1.234,5 d=1.2.3 e=0x10 f=12m2",
			"a?1,5 b?1,234 c?1.234,5 d?1.2.3 "
			"e?0x10 f?12m2 "},
		{"x | a=nan b=inf c=1e999 d=-1e999 e=- f=. g=-. h=e5 i=--1",
			"a?nan b?inf c?1e999 d?-1e999 e?- f?. g?-. h?e5 i?--1 "},
		{"x | 'open=1 b=2\nno data\n| c=3", "c=3/ "},
		{"x | 'a'b=1 'a' c=3", "c=3/ "},
		{"x | '=1 b=2", ""},
		{"x | '' '''=1 c=2", ""},
		{"see | http://web/?q=1&r=2", "http://web/?q?1&r=2 "},
		{"x | a=1' b=2\"", "a?1' b?2\" "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t length = strlen(rows[i].output);

		for (size_t piece = 1; piece <= length; piece++)
			assert_string_equal(parse(rows[i].output, length, piece), rows[i].found);
	}
	assert_string_equal(parse("x | a\0b=1 c=\0 d=4", 17, 17), "d=4/ ");
}

static void test_items_that_are_too_long_take_none_along(void **state)
{
	static const size_t lengths[] = {
		PERFDATA_ITEM_MOST - 3, PERFDATA_ITEM_MOST - 2, PERFDATA_ITEM_MOST, 100000};
	char *output = malloc(200000);

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		size_t length = lengths[i];
		size_t at = (size_t)sprintf(output, "x | a=1 ");

		if (length > PERFDATA_MOST / 2)
			length = PERFDATA_MOST / 2;
		memset(output + at, 'l', length);
		at += length;
		at += (size_t)sprintf(output + at, "=2 b=3");
		(void)parse(output, at, 1000);
		/* Label, equals sign, digit and the end of the string fit, or nothing does. */
		assert_true((strstr(found, "l=2/ ") != NULL) == (length + 3 <= PERFDATA_ITEM_MOST));
		assert_memory_equal(found, "a=1/ ", 5);
		assert_string_equal(found + strlen(found) - 5, "b=3/ ");
	}
	free(output);
}

/* Whatever a flood holds, only so much of it is looked at; the rest costs nothing. */
static void test_a_flood_is_read_to_a_limit(void **state)
{
	size_t length = 4 * PERFDATA_MOST;
	char *output = malloc(length);

	(void)state;
	memset(output, ' ', length);
	memcpy(output, "x | a=1", 7);
	/* The last item that is whole within the limit, and one that goes over it. */
	memcpy(output + 3 + PERFDATA_MOST - 10, "b=2 c=33333", 11);
	memcpy(output + length - 10, " d=4 ", 5);
	assert_string_equal(parse(output, length, 4096), "a=1/ b=2/ ");
	free(output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_plugins_write),
		cmocka_unit_test(test_what_is_none_is_passed_over),
		cmocka_unit_test(test_items_that_are_too_long_take_none_along),
		cmocka_unit_test(test_a_flood_is_read_to_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
