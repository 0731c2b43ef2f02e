// SPDX-License-Identifier: MIT
/* Named numbers: bounds, cleaning, JSON. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/measures.h"

static char *dump(const struct measures *measures)
{
	json_t *json = measures_json(measures);
	char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15));

	assert_non_null(text);
	json_decref(json);
	return text;
}

static void test_names_values_and_units(void **state)
{
	struct measures measures = {0};
	char *text = dump(&measures);

	(void)state;
	assert_string_equal(text, "[]");
	free(text);
	measures_add(&measures, "load1", 0.25, "");
	measures_add(&measures, "/ used", 12, "MB");
	measures_add(&measures, "users", NAN, "");
	measures_add(&measures, "x\xff\ny", INFINITY, "\xc2\xb0");
	text = dump(&measures);
	assert_string_equal(text,
		"[{\"name\":\"load1\",\"value\":0.25,\"unit\":\"\"},"
		"{\"name\":\"/ used\",\"value\":12.0,\"unit\":\"MB\"},"
		"{\"name\":\"users\",\"value\":null,\"unit\":\"\"},"
		"{\"name\":\"x\xef\xbf\xbd y\",\"value\":null,\"unit\":\"\xc2\xb0\"}]");
	free(text);
	measures_clear(&measures);
	assert_int_equal(measures.count, 0);
}

static void test_no_more_and_no_longer_than_fits(void **state)
{
	struct measures measures = {0};
	char name[200];

	(void)state;
	for (int i = 0; i < 2 * MEASURES_MOST; i++) {
		memset(name, 'a' + i % 26, sizeof(name) - 1);
		name[sizeof(name) - 1] = '\0';
		measures_add(&measures, name, i, name);
	}
	assert_int_equal(measures.count, MEASURES_MOST);
	for (size_t i = 0; i < measures.count; i++) {
		assert_true(strlen(measures.items[i].name) <= MEASURE_NAME_MOST);
		assert_true(strlen(measures.items[i].unit) <= MEASURE_UNIT_MOST);
		assert_true((size_t)measures.items[i].value == i);
	}
	measures_clear(&measures);
}

static void test_a_move_leaves_nothing_behind(void **state)
{
	struct measures from = {0}, to = {0};

	(void)state;
	measures_add(&to, "old", 1, "");
	measures_add(&from, "new", 2, "");
	measures_move(&to, &from);
	assert_int_equal(from.count, 0);
	assert_null(from.items);
	assert_int_equal(to.count, 1);
	assert_string_equal(to.items[0].name, "new");
	measures_move(&to, &from);
	assert_int_equal(to.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_values_and_units),
		cmocka_unit_test(test_no_more_and_no_longer_than_fits),
		cmocka_unit_test(test_a_move_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
