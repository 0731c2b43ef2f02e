// SPDX-License-Identifier: MIT
/* Every row of the program obeys the lint, and the seeds of the fuzzer name every key. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/lint.h"
#include "probes/probe.h"
#include "runner/settings.h"

static void test_all_rows_are_sound(void **state)
{
	char *text = NULL;
	size_t length = 0, count;
	FILE *stream = open_memstream(&text, &length);

	(void)state;
	assert_non_null(stream);
	/* The variants in it bring the rows of every probe type. */
	count = lint_table("settings", settings_fields, 0, stream);
	assert_int_equal(fclose(stream), 0);
	if (count > 0)
		print_message("%s", text);
	assert_int_equal(count, 0);
	free(text);
}

static void test_every_probe_type_is_reached(void **state)
{
	json_t *schema = field_schema(settings_fields);
	char *text = json_dumps(schema, JSON_COMPACT);

	(void)state;
	for (size_t i = 0; probe_types[i] != NULL; i++) {
		char key[100];

		(void)snprintf(key, sizeof(key), "\"%s\":", probe_types[i]->conf.name);
		assert_non_null(strstr(text, key));
		assert_ptr_equal(probe_type_of(&probe_types[i]->conf), probe_types[i]);
	}
	free(text);
	json_decref(schema);
}

/* All seed files, one behind the other. free(). */
static char *read_seeds(void)
{
	char *text = xcalloc(1, 1);
	size_t length = 0;
	/* Sorted and read by the shell, which this test may use. */
	FILE *stream = popen("cat '" SEED_FOLDER "'/*", "r");
	char line[512];

	assert_non_null(stream);
	while (fgets(line, sizeof(line), stream) != NULL) {
		size_t more = strlen(line);

		text = xrealloc(text, length + more + 1, 1);
		memcpy(text + length, line, more + 1);
		length += more;
	}
	assert_int_equal(pclose(stream), 0);
	return text;
}

/* How many keys of a schema no seed has; tell says which. */
static size_t missing_keys(const char *seeds, const json_t *schema, bool tell)
{
	const json_t *properties = json_object_get(schema, "properties");
	const char *key;
	const json_t *value;
	size_t missing = 0, index;

	/* jansson iterates without changing anything. */
	json_object_foreach ((json_t *)properties, key, value) {
		char wanted[100];

		(void)snprintf(wanted, sizeof(wanted), "%s:", key);
		if (strstr(seeds, wanted) == NULL) {
			if (tell)
				print_message("no seed has the key '%s'\n", key);
			missing++;
		}
		missing += missing_keys(seeds, value, tell);
	}
	json_array_foreach (json_object_get(schema, "anyOf"), index, value)
		missing += missing_keys(seeds, value, tell);
	if (json_is_object(json_object_get(schema, "additionalProperties")))
		missing +=
			missing_keys(seeds, json_object_get(schema, "additionalProperties"), tell);
	if (json_object_get(schema, "items") != NULL)
		missing += missing_keys(seeds, json_object_get(schema, "items"), tell);
	return missing;
}

static void test_the_seeds_name_every_key(void **state)
{
	json_t *schema = field_schema(settings_fields);
	char *seeds = read_seeds();

	(void)state;
	assert_int_equal(missing_keys(seeds, schema, true), 0);
	/* The search itself must be able to fail. */
	assert_true(missing_keys("name: x", schema, false) > 40);
	free(seeds);
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_rows_are_sound),
		cmocka_unit_test(test_every_probe_type_is_reached),
		cmocka_unit_test(test_the_seeds_name_every_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
