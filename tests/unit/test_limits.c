// SPDX-License-Identifier: MIT
/* Ranges: what they mean at their edges, what is none, and what a pair of them says. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/limits.h"

struct row {
	struct limit_range warning;
};

static const struct conf_field row = LIMIT_RANGE(struct row, warning, .help = "x");
static char complaint[256];

/* The walker's part: no expansion here. */
bool field_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct conf_text *ret_text)
{
	(void)load;
	(void)field;
	ret_text->text = ret_text->shown = node->text;
	return true;
}

bool conf_error(struct conf_load *load, const struct conf_node *node, const char *format, ...)
{
	va_list arguments;

	(void)load;
	(void)node;
	va_start(arguments, format);
	(void)vsnprintf(complaint, sizeof(complaint), format, arguments);
	va_end(arguments);
	return false;
}

void field_print_text(const char *text, FILE *stream)
{
	(void)fputs(text, stream);
}

static bool read_range(const char *text, struct limit_range *ret_range)
{
	const struct conf_node node = {.type = CONF_SCALAR, .text = text};

	*ret_range = (struct limit_range){0};
	return row.kind->parse(NULL, &row, &node, ret_range);
}

static struct limit_range range_of(const char *text)
{
	struct limit_range range;

	assert_true(read_range(text, &range));
	return range;
}

static void test_ranges_at_their_edges(void **state)
{
	static const struct {
		const char *range;
		double kept[4], broken[4];
	} rows[] = {
		{"4", {0, 4, 3.9, 0.001}, {4.001, -0.001, INFINITY, -5}},
		{"0", {0, -0.0, 0, 0}, {0.001, -0.001, 1, -1}},
		{"10:", {10, 1e300, 11, INFINITY}, {9.999, 0, -10, -INFINITY}},
		{"~:10", {10, 0, -1e300, -INFINITY}, {10.001, 1e300, INFINITY, 11}},
		{"10:20", {10, 20, 15, 19.999}, {9.999, 20.001, 0, -15}},
		{"-5:-1", {-5, -1, -3, -1.5}, {0, -5.1, -0.9, 5}},
		{"@10:20", {9.999, 20.001, 0, INFINITY}, {10, 20, 15, 11}},
		{"@5", {5.1, -0.1, 100, -5}, {0, 5, 2.5, 1}},
		{"@~:0", {0.001, 1, 2, INFINITY}, {0, -1, -INFINITY, -0.5}},
		{".5:1.5", {0.5, 1.5, 1, 0.75}, {0.499, 1.501, 0, 2}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct limit_range range = range_of(rows[i].range);

		for (size_t n = 0; n < 4; n++) {
			if (limit_is_broken(&range, rows[i].kept[n]) ||
				!limit_is_broken(&range, rows[i].broken[n]))
				fail_msg("%s: %g or %g", rows[i].range, rows[i].kept[n],
					rows[i].broken[n]);
		}
		assert_true(limit_is_broken(&range, NAN));
	}
}

static void test_what_is_no_range(void **state)
{
	static const struct {
		const char *text, *problem;
	} rows[] = {
		{":10", "has no start; write 0:10, or ~:10 where all below is fine"},
		{"@:10", "has no start; write 0:10, or ~:10 where all below is fine"},
		{"20:10", "ends before it starts"},
		{"-5", "ends before it starts"},
		{"~:", "has neither a start nor an end"},
		{"@~:", "has neither a start nor an end"},
		{"10:x", "has no number behind its colon"},
		{"~", "is not a range; write 10, 10:, ~:10, 10:20 or @10:20"},
		{"@", "is not a range; write 10, 10:, ~:10, 10:20 or @10:20"},
		{"", "is not a range; write 10, 10:, ~:10, 10:20 or @10:20"},
		{"5%", "is not a range; write 10, 10:, ~:10, 10:20 or @10:20"},
		{"1e3", "is not a range; write 10, 10:, ~:10, 10:20 or @10:20"},
		{"10:20:30", "is not a range; write 10, 10:, ~:10, 10:20 or @10:20"},
		{"10 : 20", "is not a range; write 10, 10:, ~:10, 10:20 or @10:20"},
		{"1.", "is not a range; write 10, 10:, ~:10, 10:20 or @10:20"},
		{"+5", "is not a range; write 10, 10:, ~:10, 10:20 or @10:20"},
		{"1234567890123456", "is not a range; write 10, 10:, ~:10, 10:20 or @10:20"},
		{"inf", "is not a range; write 10, 10:, ~:10, 10:20 or @10:20"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct limit_range range;
		char wanted[256];

		(void)snprintf(wanted, sizeof(wanted), "'warning': '%s' %s", rows[i].text,
			rows[i].problem);
		assert_false(read_range(rows[i].text, &range));
		assert_null(range.text);
		assert_string_equal(complaint, wanted);
	}
}

static void test_a_pair_of_limits(void **state)
{
	const struct limit_range four = range_of("4"), eight = range_of("8"), none = {0};
	const struct limit_range *broken;

	(void)state;
	assert_int_equal(limits_judge(&four, &eight, 4, &broken), PROBE_PASSING);
	assert_null(broken);
	assert_int_equal(limits_judge(&four, &eight, 5, &broken), PROBE_WARNING);
	assert_ptr_equal(broken, &four);
	assert_int_equal(limits_judge(&four, &eight, 9, &broken), PROBE_CRITICAL);
	assert_ptr_equal(broken, &eight);
	assert_int_equal(limits_judge(&none, &eight, 5, &broken), PROBE_PASSING);
	assert_int_equal(limits_judge(&four, &none, 99, &broken), PROBE_WARNING);
	assert_int_equal(limits_judge(&none, &none, NAN, &broken), PROBE_PASSING);
	assert_int_equal(limits_judge(&four, &none, NAN, &broken), PROBE_WARNING);
	assert_int_equal(limits_judge(&four, &eight, NAN, &broken), PROBE_CRITICAL);
}

static void test_words(void **state)
{
	const struct limit_range eight = range_of("8"), inside = range_of("@10:20");
	char *text = limit_text(&eight, PROBE_CRITICAL);

	(void)state;
	assert_string_equal(text, "outside critical 8");
	free(text);
	text = limit_text(&inside, PROBE_WARNING);
	assert_string_equal(text, "inside warning 10:20");
	free(text);
}

static void test_ranges_compare_by_what_they_mean(void **state)
{
	const struct limit_range one = range_of("4"), same = range_of("0:4.0"), none = {0};
	const struct limit_range others[] = {range_of("5"), range_of("1:4"), range_of("@4")};
	json_t *schema = row.kind->schema(&row);

	(void)state;
	assert_true(row.kind->equal(&row, &one, &same));
	assert_true(row.kind->equal(&row, &none, &none));
	assert_false(row.kind->equal(&row, &one, &none));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(row.kind->equal(&row, &one, &others[i]));
	assert_true(json_is_object(schema));
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges_at_their_edges),
		cmocka_unit_test(test_what_is_no_range),
		cmocka_unit_test(test_a_pair_of_limits),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_ranges_compare_by_what_they_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
