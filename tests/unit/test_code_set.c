// SPDX-License-Identifier: MIT
/* Sets of codes read, printed and asked. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/code_set.h"

struct sets {
	struct code_set passing_status, passing_exit;
};
static const struct conf_field row = HTTP_STATUSES(struct sets, passing_status, .help = "x");
static const struct conf_field exit_row = EXIT_CODES(struct sets, passing_exit, .help = "x");
static char complaint[256];

/* The walker's part: no expansion here. */
bool field_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct conf_text *ret_text)
{
	(void)load;
	(void)field;
	ret_text->text = ret_text->shown = node->text;
	return node->type == CONF_SCALAR;
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

/* Reads "2xx 301" as a list of two, and one word as a scalar. */
static bool read_by(const struct conf_field *field, const char *text, struct code_set *ret_set)
{
	struct conf_node nodes[8] = {0}, *items[8], list = {.type = CONF_SEQUENCE, .items = items};
	char *copy = strdup(text), *rest = copy, *word;
	bool fine;

	*ret_set = (struct code_set){0};
	while ((word = strsep(&rest, " ")) != NULL) {
		nodes[list.count] = (struct conf_node){.type = CONF_SCALAR, .text = word};
		items[list.count] = &nodes[list.count];
		list.count++;
	}
	fine = field->kind->parse(NULL, field, list.count == 1 ? items[0] : &list, ret_set);
	free(copy);
	return fine;
}

static bool read_set(const char *text, struct code_set *ret_set)
{
	return read_by(&row, text, ret_set);
}

static void test_what_a_set_prints_is_what_it_holds(void **state)
{
	static const struct {
		const char *text, *printed;
	} rows[] = {
		{"204", "[204]"},
		{"2xx", "[200-299]"},
		{"200-299", "[200-299]"},
		{"100 599", "[100, 599]"},
		{"1xx 2xx 3xx 4xx 5xx", "[100-599]"},
		{"2xx 300 301", "[200-301]"},
		{"200-200 404 404", "[200, 404]"},
		{"163 164", "[163-164]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct code_set set;
		char printed[256] = "";
		FILE *stream = fmemopen(printed, sizeof(printed), "w");

		assert_true(read_set(rows[i].text, &set));
		row.kind->print(&row, &set, stream);
		(void)fclose(stream);
		assert_string_equal(printed, rows[i].printed);
	}
}

static void test_what_is_no_status_is_refused(void **state)
{
	static const char *const texts[] = {"", "20", "2000", "099", "600", "6xx", "0xx", "2XX",
		"2x", "xx", "299-200", "200-", "-200", "200-2xx", "200_299", "20a", "2xx,3xx",
		"200 x"};
	struct code_set set;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		*complaint = '\0';
		assert_false(read_set(texts[i], &set));
		assert_non_null(strstr(complaint, "write 204, 2xx or 200-299"));
	}
}

static void test_an_empty_list_is_refused(void **state)
{
	const struct conf_node list = {.type = CONF_SEQUENCE};
	struct code_set set = {0};

	(void)state;
	assert_false(row.kind->parse(NULL, &row, &list, &set));
}

static void test_codes_outside_are_in_no_set(void **state)
{
	struct code_set set, other;

	(void)state;
	assert_true(read_set("1xx 2xx 3xx 4xx 5xx", &set));
	for (long status = -1000; status < 2000; status++)
		assert_int_equal(code_set_has(&set, status), status >= 100 && status <= 599);
	assert_true(read_set("2xx", &other));
	assert_true(code_set_overlaps(&set, &other));
	assert_true(code_set_settle(&set, false, &other, true));
	assert_false(code_set_overlaps(&set, &other));
	assert_false(code_set_has(&set, 250));
	assert_true(code_set_has(&set, 300));
	assert_false(row.kind->equal(&row, &set, &other));
	assert_true(row.kind->equal(&row, &set, &set));
}

static void test_exit_codes_have_eight_bits_and_no_classes(void **state)
{
	static const char *const bad[] = {
		"256", "2xx", "-1", "1000", "01", "3-2", "0-256", "", "a", "1-", "1-2-3", "0x1"};
	struct code_set set;
	char printed[256] = "";
	FILE *stream = fmemopen(printed, sizeof(printed), "w");

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		*complaint = '\0';
		assert_false(read_by(&exit_row, bad[i], &set));
		assert_non_null(strstr(complaint, "from 0 to 255 in 'passing_exit'; write"));
	}
	assert_true(read_by(&exit_row, "0 10-12 255 12", &set));
	exit_row.kind->print(&exit_row, &set, stream);
	(void)fclose(stream);
	assert_string_equal(printed, "[0, 10-12, 255]");
	for (long code = -300; code < 800; code++)
		assert_int_equal(code_set_has(&set, code),
			code == 0 || code == 255 || (code >= 10 && code <= 12));
}

static void test_what_is_written_wins_over_a_default(void **state)
{
	struct code_set passing, warning;

	(void)state;
	assert_true(read_by(&exit_row, "0 1", &passing) && read_by(&exit_row, "1", &warning));
	assert_false(code_set_settle(&passing, true, &warning, true));
	assert_true(code_set_settle(&passing, true, &warning, false));
	assert_true(code_set_has(&passing, 1) && !code_set_has(&warning, 1));
	assert_true(code_set_settle(&passing, true, &warning, true));
	assert_true(read_by(&exit_row, "1", &warning));
	assert_true(code_set_settle(&passing, false, &warning, true));
	assert_true(!code_set_has(&passing, 1) && code_set_has(&passing, 0));
	assert_true(code_set_has(&warning, 1));
}

static void test_schema_allows_one_and_a_list(void **state)
{
	json_t *schema = row.kind->schema(&row);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(schema, "anyOf")), 2);
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_set_prints_is_what_it_holds),
		cmocka_unit_test(test_what_is_no_status_is_refused),
		cmocka_unit_test(test_an_empty_list_is_refused),
		cmocka_unit_test(test_codes_outside_are_in_no_set),
		cmocka_unit_test(test_exit_codes_have_eight_bits_and_no_classes),
		cmocka_unit_test(test_what_is_written_wins_over_a_default),
		cmocka_unit_test(test_schema_allows_one_and_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
