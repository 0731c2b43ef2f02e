// SPDX-License-Identifier: MIT
/* The tables of keys, linted: what a careless row would break shows here. */
#include "tests/unit/unit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "config/field.h"
#include "probes/probe.h"
#include "runner/settings.h"
#include "runner/settings_rows.h"

static size_t size_of(const struct conf_field *field)
{
	return field->kind->size != 0 ? field->kind->size : field->size;
}

static void lint_help(const char *where, const struct conf_field *field)
{
	size_t length = field->help == NULL ? 0 : strlen(field->help);

	if (length == 0 || field->help[length - 1] == '.' ||
		!isupper((unsigned char)field->help[0]))
		fail_msg(
			"%s: '%s': help must be there, begin with a capital and end without a stop",
			where, field->key);
}

static void lint_key(const char *where, const struct conf_field *field)
{
	if (field->key == NULL ||
		strspn(field->key, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(field->key))
		fail_msg("%s: key '%s' is not snake_case", where,
			field->key == NULL ? "" : field->key);
}

/* The default goes through the kind's own parser, and required rows have none. */
static void lint_default(const char *where, const struct conf_field *field)
{
	const struct conf_field rows[] = {*field, {0}};
	struct conf_load load = {.arena = arena_create(), .diag = diag_create()};
	struct conf_node empty = {.type = CONF_MAPPING, .mark = {.file = "default"}};
	void *conf = arena_alloc(load.arena, field->offset + size_of(field));

	if (field->fallback != NULL) {
		if ((field->flags & CONF_REQUIRED) != 0)
			fail_msg("%s: '%s' is required and has a default", where, field->key);
		if (!field_load(&load, rows, &empty, NULL, conf))
			fail_msg("%s: the default of '%s' does not parse or is out of range", where,
				field->key);
	}
	diag_destroy(load.diag);
	arena_destroy(load.arena);
}

static void lint_schema(const char *where, const struct conf_field *field)
{
	json_t *schema = field->kind->schema(field);

	if (!json_is_object(schema) || json_object_size(schema) == 0)
		fail_msg("%s: '%s' has no schema", where, field->key);
	json_decref(schema);
}

static void lint_pair(const char *where, const struct conf_field *a, const struct conf_field *b)
{
	if (strcmp(a->key, b->key) == 0)
		fail_msg("%s: two rows for '%s'", where, a->key);
	if (a->offset < b->offset + size_of(b) && b->offset < a->offset + size_of(a))
		fail_msg("%s: '%s' and '%s' fill the same bytes", where, a->key, b->key);
}

static void lint_rows(const char *where, const struct conf_field *fields, size_t size)
{
	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		lint_key(where, field);
		lint_help(where, field);
		lint_default(where, field);
		lint_schema(where, field);
		if (size > 0 && field->offset + size_of(field) > size)
			fail_msg("%s: '%s' reaches past its struct", where, field->key);
		if (field->kind == &conf_choice && field->choices == NULL)
			fail_msg("%s: '%s' has no choices", where, field->key);
		for (const struct conf_field *other = fields; other < field; other++)
			lint_pair(where, field, other);
		if (field->fields != NULL)
			lint_rows(field->key, field->fields, field->size);
	}
}

static void the_top_level(void **unused)
{
	(void)unused;
	lint_rows("top level", settings_fields, 0);
}

static void every_probe_type(void **unused)
{
	(void)unused;
	for (size_t i = 0; probe_types[i] != NULL; i++) {
		const struct conf_variant *variant = &probe_types[i]->conf;
		bool found = variant->shorthand == NULL;

		assert_ptr_equal(probe_variants[i], variant);
		assert_ptr_equal(probe_type_of(variant), probe_types[i]);
		assert_non_null(variant->summary);
		assert_true(probe_types[i]->longest_timeout > 0);
		lint_rows(variant->name, variant->fields, variant->size);
		for (const struct conf_field *row = variant->fields; row->kind != NULL; row++)
			found = found || strcmp(row->key, variant->shorthand) == 0;
		if (!found)
			fail_msg("%s: its short form fills no row", variant->name);
	}
}

static void probe_names_are_no_keys_of_a_check(void **unused)
{
	(void)unused;
	for (size_t i = 0; probe_variants[i] != NULL; i++) {
		for (const struct conf_field *row = settings_check_fields; row->kind != NULL; row++)
			assert_string_not_equal(row->key, probe_variants[i]->name);
	}
}

static void the_whole_schema_is_json(void **unused)
{
	json_t *schema = field_schema(settings_fields);
	char *text = json_dumps(schema, 0);

	(void)unused;
	assert_non_null(strstr(text, "\"failures_before_critical\""));
	assert_non_null(strstr(text, "\"http\""));
	free(text);
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_top_level),
		cmocka_unit_test(every_probe_type),
		cmocka_unit_test(probe_names_are_no_keys_of_a_check),
		cmocka_unit_test(the_whole_schema_is_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
