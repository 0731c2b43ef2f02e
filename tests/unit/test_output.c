// SPDX-License-Identifier: MIT
/* Whatever bytes come, the text is valid, bounded and says what it left out. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/output.h"

#define DOTS "\xe2\x80\xa6"
#define BAD "\xef\xbf\xbd"

/* A fixed sequence, so that a failure can be repeated. */
static uint64_t seed;

static unsigned int dice(unsigned int sides)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (unsigned int)(seed >> 33) % sides;
}

static char *render(const void *bytes, size_t length, const char *line)
{
	struct output output = {0};
	char *text;

	output_append(&output, bytes, length);
	text = output_render(&output, line);
	output_clear(&output);
	return text;
}

/* By code points rather than by byte ranges, as the code under test does it. */
static bool is_clean(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	while (*at != 0) {
		unsigned int length = *at < 0x80 ? 1 : *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
		unsigned int point = length == 1 ? *at : *at & (0xffU >> (length + 1));
		static const unsigned int least[] = {0, 0, 0x80, 0x800, 0x10000};

		if (*at >= 0x80 && *at < 0xc0)
			return false;
		for (unsigned int i = 1; i < length; i++) {
			if ((at[i] & 0xc0) != 0x80)
				return false;
			point = point << 6 | (at[i] & 0x3fU);
		}
		if (point < least[length] || point > 0x10ffff ||
			(point >= 0xd800 && point <= 0xdfff))
			return false;
		if ((point < 0x20 && point != '\t' && point != '\n') ||
			(point >= 0x7f && point <= 0x9f))
			return false;
		at += length;
	}
	return true;
}

/* bytes are clean themselves: text is their start, the right number, their end. */
static void check_cut(const char *text, const char *bytes, size_t length, size_t most)
{
	const char *mark = strstr(text, DOTS " [");
	const char *tail;
	size_t head, missing;
	int end = 0;

	assert_non_null(mark);
	assert_int_equal(sscanf(mark, DOTS " [%zu bytes left out] " DOTS "%n", &missing, &end), 1);
	assert_true(end > 0);
	tail = mark + end;
	head = (size_t)(mark - text);
	assert_int_equal(head + missing + strlen(tail), length);
	assert_memory_equal(text, bytes, head);
	assert_memory_equal(tail, bytes + length - strlen(tail), strlen(tail));
	assert_true(strlen(text) <= most);
	/* Neither side is starved: a code point and a digit fewer at most. */
	assert_true(strlen(text) >= most - 12);
	assert_true(head >= most / 2 - 40 && strlen(tail) >= most / 2 - 40);
}

static void test_random_bytes_give_clean_text(void **state)
{
	static unsigned char bytes[20000];

	(void)state;
	seed = 1;
	for (int round = 0; round < 2000; round++) {
		size_t length = dice(round % 10 == 0 ? sizeof(bytes) : 300);
		/* Few distinct bytes make long sequences likely. */
		static const unsigned char spicy[] = {0xe2, 0x82, 0xac, 0xf0, 0x90, 0x80, 0xed,
			0xa0, 0xc0, 0xf4, 0x8f, 0xbf, 0xff, 'a', 0x1b, '\n', 0xc2, 0x9f, 0};
		char *text;

		for (size_t i = 0; i < length; i++)
			bytes[i] = round % 2 == 0 ? (unsigned char)dice(256)
						  : spicy[dice(sizeof(spicy))];
		text = render(bytes, length, round % 3 == 0 ? "a line of ours" : NULL);
		assert_true(strlen(text) <= OUTPUT_MAX);
		assert_true(is_clean(text));
		free(text);
	}
}

static size_t put_point(char *bytes, unsigned int point)
{
	if (point < 0x80) {
		bytes[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		bytes[0] = (char)(0xc0 | point >> 6);
		bytes[1] = (char)(0x80 | (point & 0x3f));
		return 2;
	}
	if (point < 0x10000) {
		bytes[0] = (char)(0xe0 | point >> 12);
		bytes[1] = (char)(0x80 | (point >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (point & 0x3f));
		return 3;
	}
	bytes[0] = (char)(0xf0 | point >> 18);
	bytes[1] = (char)(0x80 | (point >> 12 & 0x3f));
	bytes[2] = (char)(0x80 | (point >> 6 & 0x3f));
	bytes[3] = (char)(0x80 | (point & 0x3f));
	return 4;
}

static void test_long_text_keeps_head_and_tail_and_counts_the_rest(void **state)
{
	static char bytes[30000];
	static const unsigned int points[] = {'x', 'y', 0xe9, 0x20ac, 0x1f600, 0x10ffff, 0xd7ff};

	(void)state;
	seed = 2;
	for (int round = 0; round < 300; round++) {
		size_t wanted = OUTPUT_MAX + 1 + dice(round % 2 == 0 ? 5000 : 25000), length = 0;
		struct output output = {0};
		char *text, *again;

		while (length < wanted)
			length += put_point(bytes + length, points[dice(7)]);
		text = render(bytes, length, NULL);
		assert_true(is_clean(text));
		check_cut(text, bytes, length, OUTPUT_MAX);
		/* However it arrives, it reads the same. */
		for (size_t at = 0; at < length;) {
			size_t part = 1 + dice(round % 3 == 0 ? 7 : 9000);

			part = part < length - at ? part : length - at;
			output_append(&output, bytes + at, part);
			at += part;
		}
		again = output_render(&output, NULL);
		assert_string_equal(again, text);
		output_clear(&output);
		free(text);
		free(again);
	}
}

static void test_the_limit_is_whole_and_one_more_is_not(void **state)
{
	static char bytes[OUTPUT_MAX + 2];
	char *text;

	(void)state;
	memset(bytes, 'a', sizeof(bytes));
	text = render(bytes, OUTPUT_MAX, NULL);
	assert_int_equal(strlen(text), OUTPUT_MAX);
	assert_null(strstr(text, DOTS));
	free(text);
	text = render(bytes, OUTPUT_MAX + 1, NULL);
	check_cut(text, bytes, OUTPUT_MAX + 1, OUTPUT_MAX);
	free(text);
	/* A newline at the end is no reason to leave anything out. */
	bytes[OUTPUT_MAX] = '\n';
	text = render(bytes, OUTPUT_MAX + 1, NULL);
	assert_int_equal(strlen(text), OUTPUT_MAX);
	assert_null(strstr(text, DOTS));
	free(text);
}

static void test_bad_bytes(void **state)
{
	static const struct {
		const char *bytes, *text;
	} rows[] = {
		{"temp \344\260C \377 ok \"q\" \\ \033[1m\ttab",
			"temp " BAD "C " BAD " ok \"q\" \\ [1m\ttab"},
		{"\377\377", BAD BAD},
		{"\xc0\xaf", BAD BAD}, /* overlong */
		{"\xe0\x80\x80", BAD BAD BAD},
		{"\xed\xa0\x80", BAD BAD BAD}, /* a surrogate */
		{"\xf0\x90\x80", BAD}, /* cut off: one subpart */
		{"\xf0\x90\x80z", BAD "z"},
		{"\xf4\x90\x80\x80", BAD BAD BAD BAD}, /* past U+10FFFF */
		{"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
		{"\xe2\x82\xe2\x82\xac", BAD "\xe2\x82\xac"},
		{"a\x7f\xc2\x80\xc2\x9f\xc2\xa0"
		 "b",
			"a\xc2\xa0"
			"b"},
		{"one\r\ntwo\r\n\r\n \t", "one\ntwo"},
		{"x \xc2\x85", "x"},
		{"  kept", "  kept"},
		{"\n\n", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *text = render(rows[i].bytes, strlen(rows[i].bytes), NULL);

		assert_string_equal(text, rows[i].text);
		free(text);
	}
}

/* What is not kept lies between two code points that it tears apart. */
static void test_the_gap_leaves_no_half_code_points(void **state)
{
	static char bytes[4 * OUTPUT_MAX];
	char *text, *tail;

	(void)state;
	memset(bytes, '\001', sizeof(bytes)); /* dropped, so that all that is kept would fit */
	memcpy(bytes, "start", 5);
	memcpy(bytes + OUTPUT_MAX - 2, "\xe2\x82\xac", 3);
	tail = bytes + sizeof(bytes) - OUTPUT_MAX;
	memcpy(tail - 1, "\xe2\x82\xac", 3);
	memcpy(bytes + sizeof(bytes) - 3, "end", 3);
	text = render(bytes, sizeof(bytes), NULL);
	assert_string_equal(text, "start" DOTS " [8196 bytes left out] " DOTS "end");
	free(text);
	memset(bytes, ' ', sizeof(bytes));
	text = render(bytes, sizeof(bytes), NULL);
	assert_true(is_clean(text));
	assert_non_null(strstr(text, " bytes left out] "));
	free(text);
}

static void test_nul_bytes_end_nothing(void **state)
{
	char *text = render("a\0b\0", 4, NULL);

	(void)state;
	assert_string_equal(text, "ab");
	free(text);
}

static void test_our_line_comes_first_and_whole(void **state)
{
	static char bytes[3 * OUTPUT_MAX], line[900];
	char *text = render("said", 4, "killed by signal 9");

	(void)state;
	assert_string_equal(text, "killed by signal 9\nsaid");
	free(text);
	text = render("", 0, "only ours");
	assert_string_equal(text, "only ours");
	free(text);
	text = render("", 0, NULL);
	assert_string_equal(text, "");
	free(text);
	memset(bytes, 'b', sizeof(bytes));
	memset(line, 'l', sizeof(line) - 1);
	text = render(bytes, sizeof(bytes), line);
	assert_memory_equal(text, line, sizeof(line) - 1);
	assert_int_equal(text[sizeof(line) - 1], '\n');
	check_cut(text + sizeof(line), bytes, sizeof(bytes), OUTPUT_MAX - sizeof(line));
	free(text);
}

static void test_a_long_line_of_ours_is_shortened(void **state)
{
	static char line[6000];
	char *text, *end;

	(void)state;
	memset(line, 'l', sizeof(line) - 1);
	text = render("said", 4, line);
	end = strchr(text, '\n');
	assert_non_null(end);
	assert_string_equal(end, "\nsaid");
	*end = '\0';
	check_cut(text, line, sizeof(line) - 1, 1024);
	free(text);
}

static void test_a_line_is_one_line(void **state)
{
	char *text = output_clean_line("a\nb\r\n\377c\n", 8, 100);

	(void)state;
	assert_string_equal(text, "a b " BAD "c");
	free(text);
	/* No room for a mark: the head alone, and no half of a code point. */
	text = output_clean_line("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 9, 8);
	assert_string_equal(text, "\xe2\x82\xac\xe2\x82\xac");
	free(text);
}

static void test_memory_stays_bounded(void **state)
{
	static char flood[1 << 20];
	struct output output = {0};
	char *text;

	(void)state;
	memset(flood, 'f', sizeof(flood));
	for (int i = 0; i < 50; i++)
		output_append(&output, flood, sizeof(flood));
	output_append(&output, "the end", 7);
	assert_int_equal(output.total, 50 * sizeof(flood) + 7);
	text = output_render(&output, NULL);
	assert_non_null(strstr(text, "fthe end"));
	assert_non_null(strstr(text, " bytes left out] "));
	free(text);
	output_clear(&output);
	assert_null(output.head);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_bytes_give_clean_text),
		cmocka_unit_test(test_long_text_keeps_head_and_tail_and_counts_the_rest),
		cmocka_unit_test(test_the_limit_is_whole_and_one_more_is_not),
		cmocka_unit_test(test_bad_bytes),
		cmocka_unit_test(test_the_gap_leaves_no_half_code_points),
		cmocka_unit_test(test_nul_bytes_end_nothing),
		cmocka_unit_test(test_our_line_comes_first_and_whole),
		cmocka_unit_test(test_a_long_line_of_ours_is_shortened),
		cmocka_unit_test(test_a_line_is_one_line),
		cmocka_unit_test(test_memory_stays_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
