// SPDX-License-Identifier: MIT
/* Secrets are given or read from a file, and never shown. */
#include "unit.h"

#include <string.h>

#include "config_bench.h"

struct values {
	struct conf_secret password;
	struct conf_pairs headers;
};

static const struct conf_field fields[] = {
	CONF_SECRET(struct values, password, .help = "Password"),
	CONF_SECRETS(struct values, headers, .help = "Headers"),
	{0},
};

static void test_both_forms(void **state)
{
	struct bench bench;
	struct values values = {0};
	const struct conf_pair *pairs;

	(void)state;
	bench_open(&bench);
	assert_true(bench_load(&bench, fields,
		"password: S3CRET\n"
		"headers: {B: 'x ${SECRET}', A: {file: /run/a, prefix: 'Bearer '}, C: {file: /c}, "
		"D: "
		"''}",
		&values));
	assert_string_equal(values.password.value, "S3CRET");
	assert_null(values.password.file);
	assert_string_equal(values.password.prefix, "");
	assert_int_equal(values.headers.count, 4);
	pairs = values.headers.items;
	assert_string_equal(pairs[0].name, "B");
	assert_string_equal(pairs[0].value.value, "x S3CRET");
	assert_null(pairs[1].value.value);
	assert_string_equal(pairs[1].value.file, "/run/a");
	assert_string_equal(pairs[1].value.prefix, "Bearer ");
	assert_string_equal(pairs[2].value.prefix, "");
	assert_string_equal(pairs[3].value.value, "");
	assert_string_equal(bench_print(&bench, fields, &values),
		"password: \"***\"\n"
		"headers: {B: \"***\", A: {file: /run/a, prefix: \"***\"}, C: {file: /c}, D: "
		"\"***\"}\n");
	bench_close(&bench);
}

static void test_absent_ones(void **state)
{
	struct bench bench;
	struct values values = {0};

	(void)state;
	bench_open(&bench);
	assert_true(bench_load(&bench, fields, "headers:", &values));
	assert_null(values.password.value);
	assert_null(values.password.file);
	assert_string_equal(values.password.prefix, "");
	assert_int_equal(values.headers.count, 0);
	assert_string_equal(bench_print(&bench, fields, &values), "");
	bench_close(&bench);
}

static void test_what_is_refused(void **state)
{
	static const char *const rows[][2] = {
		{"password: [S3CRET]",
			"1:11: 'password' wants a text or {file: PATH}, not a list\n"},
		{"password: ",
			"1:10: 'password' has no value; leave it out, or give it a text or "
			"{file: PATH}\n"},
		{"password: {prefix: S3CRET}", "1:11: key 'file' is missing in the password map\n"},
		{"password: {file: S3CRET, files: x}",
			"1:18: 'file': 'S3CRET' is not an absolute path; start it with '/', "
			"without '.' "
			"and '..' parts\n"
			"1:26: unknown key 'files' in the password map; did you mean 'file'?\n"},
		{"headers: {A: [S3CRET], B: {}}",
			"1:14: 'A' wants a text or {file: PATH}, not a list\n"
			"1:27: key 'file' is missing in the B map\n"},
		{"headers: S3CRET",
			"1:10: 'headers' is a map of names and values, such as {A: b}\n"},
	};
	struct bench bench;

	(void)state;
	bench_open(&bench);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		bench_expect(&bench, fields, rows[i][0], rows[i][1]);
	bench_close(&bench);
}

static void test_a_changed_secret_is_another(void **state)
{
	static const char base[] = "{password: a, headers: {A: {file: /a, prefix: x}}}";
	static const char *const others[] = {"{password: b, headers: {A: {file: /a, prefix: x}}}",
		"{headers: {A: {file: /a, prefix: x}}}",
		"{password: {file: /a}, headers: {A: {file: /a, prefix: x}}}",
		"{password: a, headers: {A: {file: /b, prefix: x}}}",
		"{password: a, headers: {A: {file: /a}}}",
		"{password: a, headers: {B: {file: /a, prefix: x}}}",
		"{password: a, headers: {A: {file: /a, prefix: x}, B: c}}"};
	struct bench bench;
	struct values a = {0}, same = {0};

	(void)state;
	bench_open(&bench);
	assert_true(bench_load(&bench, fields, base, &a));
	assert_true(bench_load(&bench, fields, base, &same));
	assert_true(field_equal(fields, &a, &same));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct values b = {0};

		assert_true(bench_load(&bench, fields, others[i], &b));
		assert_false(field_equal(fields, &a, &b));
	}
	bench_close(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_forms),
		cmocka_unit_test(test_absent_ones),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_a_changed_secret_is_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
