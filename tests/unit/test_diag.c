// SPDX-License-Identifier: MIT
/* Problems come out in the order of the file, each once, and not without end. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "config/diag.h"

static char *printed(struct conf_diag *diag)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	assert_non_null(stream);
	diag_print(diag, stream);
	assert_int_equal(fclose(stream), 0);
	return text;
}

static void expect(struct conf_diag *diag, const char *expected)
{
	char *text = printed(diag);

	assert_string_equal(text, expected);
	free(text);
	diag_destroy(diag);
}

static struct conf_mark at(unsigned int line, unsigned int column)
{
	return (struct conf_mark){.file = "web.yaml", .line = line, .column = column};
}

static void test_in_order_of_place(void **state)
{
	struct conf_diag *diag = diag_create();
	struct conf_mark other = {.file = "app.yaml", .line = 99, .column = 1};
	struct conf_mark whole = {.file = "web.yaml"};

	(void)state;
	diag_add(diag, at(9, 1), CONF_ERROR, "ninth");
	diag_add(diag, at(2, 7), CONF_WARNING, "second %d", 7);
	diag_add(diag, at(2, 3), CONF_ERROR, "second");
	diag_add(diag, at(10, 1), CONF_ERROR, "tenth");
	diag_add(diag, other, CONF_ERROR, "other");
	diag_add(diag, whole, CONF_ERROR, "whole");
	diag_add(diag, at(9, 1), CONF_ERROR, "again");
	assert_int_equal(diag_errors(diag), 6);
	assert_int_equal(diag_warnings(diag), 1);
	assert_string_equal(diag_at(diag, 1)->text, "whole");
	assert_null(diag_at(diag, 7));
	expect(diag,
		"app.yaml:99:1: error: other\n"
		"web.yaml: error: whole\n"
		"web.yaml:2:3: error: second\n"
		"web.yaml:2:7: warning: second 7\n"
		"web.yaml:9:1: error: ninth\n"
		"web.yaml:9:1: error: again\n"
		"web.yaml:10:1: error: tenth\n");
}

static void test_the_same_is_said_once(void **state)
{
	struct conf_diag *diag = diag_create();

	(void)state;
	for (int i = 0; i < 5; i++)
		diag_add(diag, at(1, 1), CONF_ERROR, "twin");
	diag_add(diag, at(1, 1), CONF_WARNING, "twin");
	diag_add(diag, at(1, 2), CONF_ERROR, "twin");
	assert_int_equal(diag_errors(diag), 2);
	expect(diag,
		"web.yaml:1:1: error: twin\n"
		"web.yaml:1:1: warning: twin\n"
		"web.yaml:1:2: error: twin\n");
}

static void test_the_first_twenty_of_the_file_are_kept(void **state)
{
	struct conf_diag *diag = diag_create();
	char *text;

	(void)state;
	/* From the end of the file to its start, so that the first found are the last kept. */
	for (unsigned int line = 100; line > 0; line--)
		diag_add(diag, at(line, 1), CONF_ERROR, "error in line %u", line);
	for (unsigned int line = 1; line <= 22; line++)
		diag_add(diag, at(line, 2), CONF_WARNING, "warning in line %u", line);
	assert_int_equal(diag_errors(diag), 100);
	assert_int_equal(diag_warnings(diag), 22);
	text = printed(diag);
	assert_non_null(strstr(text, "web.yaml:1:1: error: error in line 1\n"));
	assert_non_null(strstr(text, "web.yaml:20:1: error: error in line 20\n"));
	assert_null(strstr(text, "error in line 21"));
	assert_non_null(strstr(text, "warning in line 20\n"));
	assert_null(strstr(text, "warning in line 21"));
	assert_non_null(strstr(text, "and 80 more errors\nand 2 more warnings\n"));
	free(text);
	diag_destroy(diag);
	diag_destroy(NULL);
}

static void test_the_file_name_is_its_own(void **state)
{
	char name[] = "web.yaml";
	struct conf_diag *diag = diag_create();

	(void)state;
	diag_add(diag, (struct conf_mark){.file = name, .line = 1, .column = 2}, CONF_ERROR, "x");
	memset(name, '?', sizeof(name) - 1);
	expect(diag, "web.yaml:1:2: error: x\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order_of_place),
		cmocka_unit_test(test_the_same_is_said_once),
		cmocka_unit_test(test_the_first_twenty_of_the_file_are_kept),
		cmocka_unit_test(test_the_file_name_is_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
