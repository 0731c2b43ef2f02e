// SPDX-License-Identifier: MIT
/* One status out of several, against sequences written out and a slow model over all small ones. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "runner/compose.h"

#define MOST 4

/*
 * A member for each letter: P passing, W warning, C critical, ? not known; in lower case (p, w, c)
 * one that is optional, with a cap of passing.
 */
static size_t make_members(const char *letters, struct compose_member *members)
{
	static const char *const names[MOST] = {"a", "b", "c", "d"};
	size_t count = strlen(letters);

	assert_in_range(count, 1, MOST);
	for (size_t i = 0; i < count; i++) {
		char letter = letters[i];
		bool optional = letter >= 'a' && letter <= 'z';

		members[i] = (struct compose_member){
			.name = names[i],
			.known = letter != '?',
			.status = letter == 'C' || letter == 'c' ? PROBE_CRITICAL
				: letter == 'W' || letter == 'w' ? PROBE_WARNING
								 : PROBE_PASSING,
			.cap = optional ? PROBE_PASSING : PROBE_CRITICAL,
			.line = "",
		};
	}
	return count;
}

static char judge(const char *letters, unsigned int wanted)
{
	struct compose_member members[MOST];
	size_t count = make_members(letters, members);
	enum probe_status status = PROBE_CRITICAL;

	if (!compose_judge(members, count, wanted, &status))
		return '-';
	return "PWC"[status];
}

static void all_is_the_worst(void **state)
{
	(void)state;
	assert_int_equal(judge("PPP", 3), 'P');
	assert_int_equal(judge("PWP", 3), 'W');
	assert_int_equal(judge("PWC", 3), 'C');
}

static void any_is_the_best(void **state)
{
	(void)state;
	assert_int_equal(judge("CCP", 1), 'P');
	assert_int_equal(judge("CCW", 1), 'W');
	assert_int_equal(judge("CCC", 1), 'C');
}

static void at_least_is_the_nth_best(void **state)
{
	(void)state;
	assert_int_equal(judge("PPCC", 2), 'P');
	assert_int_equal(judge("PWCC", 2), 'W');
	assert_int_equal(judge("PCCC", 2), 'C');
	assert_int_equal(judge("PPWC", 3), 'W');
}

static void optional_members_do_no_harm(void **state)
{
	(void)state;
	assert_int_equal(judge("PcP", 3), 'P');
	assert_int_equal(judge("PwC", 3), 'C');
	assert_int_equal(judge("c", 1), 'P');
}

/* Decided as soon as what is missing can change nothing, and not before. */
static void the_unknown_decides_nothing(void **state)
{
	(void)state;
	assert_int_equal(judge("P?P", 3), '-');
	assert_int_equal(judge("C?P", 3), 'C');
	assert_int_equal(judge("W?P", 3), '-');
	assert_int_equal(judge("P?", 1), 'P');
	assert_int_equal(judge("C?", 1), '-');
	assert_int_equal(judge("PP?C", 2), 'P');
	assert_int_equal(judge("CC?P", 3), 'C');
}

/* The wanted-th of the sorted statuses. */
static enum probe_status model(const char *letters, unsigned int wanted, char unknown)
{
	size_t seen = 0;

	for (enum probe_status status = PROBE_PASSING; status < PROBE_CRITICAL; status++) {
		for (size_t i = 0; letters[i] != '\0'; i++) {
			char letter = letters[i] == '?' ? unknown : letters[i];

			seen += letter == "PWC"[status];
		}
		if (seen >= wanted)
			return status;
	}
	return PROBE_CRITICAL;
}

static void all_small_sets_agree_with_the_model(void **state)
{
	(void)state;
	for (unsigned int code = 0; code < 4 * 4 * 4 * 4 * MOST; code++) {
		unsigned int wanted = code % MOST + 1, rest = code / MOST;
		char letters[MOST + 1] = "", expected;

		for (size_t i = 0; i < MOST; i++, rest /= 4)
			letters[i] = "PWC?"[rest % 4];
		expected = "PWC"[model(letters, wanted, 'P')];
		if (model(letters, wanted, 'C') != model(letters, wanted, 'P'))
			expected = '-';
		if (judge(letters, wanted) != expected)
			fail_msg("%u of %s: '%c', wanted '%c'", wanted, letters,
				judge(letters, wanted), expected);
	}
}

static void expect_line(const char *letters, unsigned int wanted, const char *expected)
{
	struct compose_member members[MOST];
	size_t count = make_members(letters, members);
	char *line = compose_line(members, count, wanted);

	assert_string_equal(line, expected);
	free(line);
}

static void the_line_names_who_is_why(void **state)
{
	(void)state;
	expect_line("PPP", 3, "3 of 3 passing");
	expect_line("PCC", 3, "1 of 3 passing, all wanted; critical: b, c");
	expect_line("cWP?", 4,
		"1 of 4 passing, all wanted; warning: b; not counted: a; no result yet: d");
	expect_line("PC", 1, "1 of 2 passing, 1 wanted; critical: b");
}

static void details_begin_with_what_fails(void **state)
{
	struct compose_member members[MOST];
	size_t count = make_members("PCc?", members);
	char *text;

	(void)state;
	members[0].line = "connected";
	members[1].line = "timed out after 1s\nmore of it";
	text = compose_details(members, count);
	assert_string_equal(text,
		"b: critical: timed out after 1s\n"
		"c: not counted: critical\n"
		"d: no result yet\n"
		"a: passing: connected\n");
	free(text);
}

/* One member that says much must leave room for the others; no character is cut. */
static void long_lines_are_cut(void **state)
{
	struct compose_member members[MOST];
	char line[2001], *text;

	(void)state;
	(void)make_members("C", members);
	for (size_t i = 0; i < 2000; i += 2)
		memcpy(line + i, "\xc3\xa4", 2);
	line[2000] = '\0';
	members[0].line = line + 1; /* an odd number of bytes before the limit */
	line[1] = 'x';
	text = compose_details(members, 1);
	assert_in_range(strlen(text), 200, 400);
	assert_int_equal((unsigned char)text[strlen(text) - 2], 0xa4);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_the_worst),
		cmocka_unit_test(any_is_the_best),
		cmocka_unit_test(at_least_is_the_nth_best),
		cmocka_unit_test(optional_members_do_no_harm),
		cmocka_unit_test(the_unknown_decides_nothing),
		cmocka_unit_test(all_small_sets_agree_with_the_model),
		cmocka_unit_test(the_line_names_who_is_why),
		cmocka_unit_test(details_begin_with_what_fails),
		cmocka_unit_test(long_lines_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
