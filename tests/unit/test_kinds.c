// SPDX-License-Identifier: MIT
/* Scalars take their type from the row; nothing is guessed, and no limit is passed. */
#include "unit.h"

#include <string.h>

#include "config_bench.h"

struct values {
	const char *text;
	const char *path;
	bool flag;
	unsigned int count;
	unsigned int port;
	unsigned int few;
	double number;
	double share;
	double wait;
	double span;
	double size;
	unsigned int mode;
	int choice;
	struct conf_strings list;
	struct conf_strings verbatim;
};

static const char *const choices[] = {"passing", "warning", "critical", NULL};

static const struct conf_field fields[] = {
	CONF_STRING(struct values, text, .help = "Text"),
	CONF_PATH(struct values, path, .help = "Path"),
	CONF_BOOL(struct values, flag, .help = "Flag"),
	CONF_COUNT(struct values, count, .help = "Count"),
	CONF_COUNT(struct values, port, .min = 1, .max = 65535, .help = "Port"),
	CONF_COUNT(struct values, few, .min = 3, .help = "At least three"),
	CONF_NUMBER(struct values, number, .min = -1000, .help = "Number"),
	CONF_NUMBER(struct values, share, .max = 1, .help = "Share"),
	CONF_DURATION(struct values, wait, .min = 0.1, .max = 86400, .help = "Wait"),
	CONF_DURATION(struct values, span, .help = "Span"),
	CONF_SIZE(struct values, size, .help = "Size"),
	CONF_MODE(struct values, mode, .help = "Mode"),
	CONF_CHOICE(struct values, choice, .choices = choices, .help = "Choice"),
	CONF_STRINGS(struct values, list, .help = "List"),
	CONF_STRINGS(struct values, verbatim, .flags = CONF_VERBATIM, .help = "As written"),
	{0},
};

static void load(struct bench *bench, const char *text, struct values *values)
{
	*values = (struct values){0};
	if (!bench_load(bench, fields, text, values))
		print_message("%s: %s", text, bench_problems(bench));
	assert_int_equal(diag_errors(bench->load.diag), 0);
}

static void test_texts_stay_what_they_are(void **state)
{
	static const char *const texts[] = {"no", "1e3", "12:30", "007", "true", "null", "0x1F",
		"1_000", ".inf", "2001-01-01", "=", "010", "Off", "1.10"};
	struct bench bench;
	struct values values;

	(void)state;
	bench_open(&bench);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		load(&bench, arena_printf(bench.load.arena, "text: %s", texts[i]), &values);
		assert_string_equal(values.text, texts[i]);
	}
	load(&bench, "text: ''", &values);
	assert_string_equal(values.text, "");
	load(&bench, "text: !!str ~", &values);
	assert_string_equal(values.text, "~");
	load(&bench, "{}", &values);
	assert_null(values.text);
	assert_non_null(values.list.items);
	assert_null(values.list.items[0]);
	load(&bench, "list: [check, -w, 50, 1.10, no, 010]", &values);
	assert_int_equal(values.list.count, 6);
	assert_string_equal(values.list.items[3], "1.10");
	assert_string_equal(values.list.items[5], "010");
	bench_close(&bench);
}

static void test_values_at_their_limits(void **state)
{
	struct bench bench;
	struct values values;

	(void)state;
	bench_open(&bench);
	load(&bench,
		"{port: 65535, few: 3, count: 4294967295, number: -0.5, share: 1, wait: 100ms, "
		"span: .5s, size: 1.5KiB, mode: 022, flag: true, choice: warning, path: /a/..b/.c}",
		&values);
	assert_int_equal(values.port, 65535);
	assert_int_equal(values.few, 3);
	assert_int_equal(values.count, 4294967295U);
	assert_true(values.number == -0.5);
	assert_true(values.share == 1);
	assert_true(values.wait == 0.1);
	assert_true(values.span == 0.5);
	assert_true(values.size == 1536);
	assert_int_equal(values.mode, 022);
	assert_true(values.flag);
	assert_int_equal(values.choice, 1);
	assert_string_equal(values.path, "/a/..b/.c");
	load(&bench,
		"{port: '1', flag: \"false\", wait: 24h, span: 3650d, mode: \"1777\", number: .5}",
		&values);
	assert_int_equal(values.port, 1);
	assert_false(values.flag);
	assert_true(values.wait == 86400);
	assert_int_equal(values.mode, 01777);
	assert_true(values.number == 0.5);
	bench_close(&bench);
}

#define COUNT_WANTS "is not a whole number in plain digits, such as 3\n"
#define NUMBER_WANTS "is not a plain number, such as 5 or 0.25\n"
#define PATH_WANTS "is not an absolute path; start it with '/', without '.' and '..' parts\n"
#define MODE_WANTS "is not a mode of three or four octal digits, such as 022\n"

static const struct {
	const char *text, *problem;
} refused[] = {
	{"count: 010", "1:8: 'count': 010 has a leading zero; write 10\n"},
	{"port: 08500", "1:7: 'port': 08500 has a leading zero; write 8500\n"},
	{"port: 65536", "1:7: 'port' must be from 1 to 65535\n"},
	{"port: 0", "1:7: 'port' must be from 1 to 65535\n"},
	{"port: -1", "1:7: 'port' must be from 1 to 65535\n"},
	{"few: 2", "1:6: 'few' must be at least 3\n"},
	{"count: -1", "1:8: 'count' must be at least 0\n"},
	{"count: -0", "1:8: 'count' must be at least 0\n"},
	{"count: 4294967296", "1:8: 'count' must be at most 4294967295\n"},
	{"count: 99999999999999999999999", "1:8: 'count' must be at most 4294967295\n"},
	{"port: 99999999999999999999999", "1:7: 'port' must be from 1 to 65535\n"},
	{"count: 1e3", "1:8: 'count': '1e3' " COUNT_WANTS},
	{"count: 1.5", "1:8: 'count': '1.5' " COUNT_WANTS},
	{"count: 0x10", "1:8: 'count': '0x10' " COUNT_WANTS},
	{"count: 1_000", "1:8: 'count': '1_000' " COUNT_WANTS},
	{"count: +1", "1:8: 'count': '+1' " COUNT_WANTS},
	{"count: ' 1'", "1:8: 'count': ' 1' " COUNT_WANTS},
	{"count: ''", "1:8: 'count': '' " COUNT_WANTS},
	{"count: 000", "1:8: 'count': '000' " COUNT_WANTS},
	{"number: 1e3", "1:9: 'number': '1e3' " NUMBER_WANTS},
	{"number: .inf", "1:9: 'number': '.inf' " NUMBER_WANTS},
	{"number: nan", "1:9: 'number': 'nan' " NUMBER_WANTS},
	{"number: 01.5", "1:9: 'number': '01.5' " NUMBER_WANTS},
	{"number: 1.", "1:9: 'number': '1.' " NUMBER_WANTS},
	{"number: '-'", "1:9: 'number': '-' " NUMBER_WANTS},
	{"number: 1234567890.1234567", "1:9: 'number': '1234567890.1234567' " NUMBER_WANTS},
	{"number: -1001", "1:9: 'number' must be at least -1000\n"},
	{"share: 1.01", "1:8: 'share' must be from 0 to 1\n"},
	{"share: -0.5", "1:8: 'share' must be from 0 to 1\n"},
	{"wait: 10",
		"1:7: 'wait': '10' is not a duration: it needs a unit, such as 10s, 5m or 250ms\n"},
	{"wait: 5 s", "1:7: 'wait': '5 s' is not a duration: there must be no blanks in it\n"},
	{"wait: -5s", "1:7: 'wait': '-5s' is not a duration: it must not be negative\n"},
	{"wait: 1e1s",
		"1:7: 'wait': '1e1s' is not a duration: its units must be d, h, m, s or ms\n"},
	{"wait: 0s", "1:7: 'wait' must be from 100ms to 1d\n"},
	{"wait: 99ms", "1:7: 'wait' must be from 100ms to 1d\n"},
	{"wait: 99999999999999h", "1:7: 'wait' must be from 100ms to 1d\n"},
	{"span: 99999999999999h", "1:7: 'span' must be from 0s to 3650d\n"},
	{"size: 10", "1:7: 'size': '10' is not a size: it needs a unit, such as 64KiB or 512B\n"},
	{"size: 99999999999GiB", "1:7: 'size' must be from 0B to 8388608GiB\n"},
	{"flag: yes", "1:7: 'flag': 'yes' is neither true nor false\n"},
	{"flag: True", "1:7: 'flag': 'True' is neither true nor false\n"},
	{"flag: 1", "1:7: 'flag': '1' is neither true nor false\n"},
	{"mode: 22", "1:7: 'mode': '22' " MODE_WANTS},
	{"mode: 0o22", "1:7: 'mode': '0o22' " MODE_WANTS},
	{"mode: 088", "1:7: 'mode': '088' " MODE_WANTS},
	{"mode: 00022", "1:7: 'mode': '00022' " MODE_WANTS},
	{"choice: warnign",
		"1:9: 'choice': 'warnign' is not one of passing, warning or critical; did you mean "
		"'warning'?\n"},
	{"choice: ok", "1:9: 'choice': 'ok' is not one of passing, warning or critical\n"},
	{"choice: Passing",
		"1:9: 'choice': 'Passing' is not one of passing, warning or critical; did you mean "
		"'passing'?\n"},
	{"path: a/b", "1:7: 'path': 'a/b' " PATH_WANTS},
	{"path: /a/../b", "1:7: 'path': '/a/../b' " PATH_WANTS},
	{"path: /a/.", "1:7: 'path': '/a/.' " PATH_WANTS},
	{"path: ''", "1:7: 'path': '' " PATH_WANTS},
	{"list: a", "1:7: 'list' is a list, such as [a, b]\n"},
	{"list: {a: b}", "1:7: 'list' is a list, such as [a, b]\n"},
	{"list: [a, [b], {c: d}, ~]",
		"1:11: 'list' wants a text, not a list\n"
		"1:16: 'list' wants a text, not a map\n"
		"1:24: 'list' has no value; leave it out, or give it a text\n"},
};

static void test_what_is_refused(void **state)
{
	struct bench bench;

	(void)state;
	bench_open(&bench);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		bench_expect(&bench, fields, refused[i].text, refused[i].problem);
	bench_close(&bench);
}

static void test_the_environment(void **state)
{
	struct bench bench;
	struct values values;

	(void)state;
	bench_open(&bench);
	load(&bench, "{text: 'a-${HOST}-$$-${EMPTY}-$', port: '${PORT}', list: ['${HOST}']}",
		&values);
	assert_string_equal(values.text, "a-10.0.0.1-$--$");
	assert_int_equal(values.port, 8080);
	assert_string_equal(values.list.items[0], "10.0.0.1");
	/* A pattern needs no care, and what came from a variable is not looked at again. */
	load(&bench, "text: '^a$|^b$$|$HOST|${DOLLAR}'", &values);
	assert_string_equal(values.text, "^a$|^b$|$HOST|${HOST}");
	load(&bench, "verbatim: ['${HOST} $$ $HOME']", &values);
	assert_string_equal(values.verbatim.items[0], "${HOST} $$ $HOME");
	bench_expect(&bench, fields, "text: x${NOT_SET}",
		"1:7: environment variable 'NOT_SET' is not set; set it, or write '$$' for a "
		"dollar\n");
	bench_expect(&bench, fields, "text: ${BINARY}",
		"1:7: environment variable 'BINARY' holds bytes that are not UTF-8 text\n");
	bench_expect(&bench, fields, "text: 'x${HOST'",
		"1:7: '${' begins the name of an environment variable and needs a '}'; write '$$' "
		"for a dollar\n");
	bench_expect(&bench, fields, "text: '${A-B}'",
		"1:7: '${' begins the name of an environment variable and needs a '}'; write '$$' "
		"for a dollar\n");
	bench_close(&bench);
}

static void test_the_environment_is_secret(void **state)
{
	static const char *const texts[] = {"port: 'x${SECRET}'", "wait: '${SECRET}s'",
		"flag: '${SECRET}'", "choice: '${SECRET}'", "mode: '${SECRET}'",
		"path: '${SECRET}'", "number: '${SECRET}'", "size: '${SECRET}'"};
	struct bench bench;
	struct values values;
	const char *printed;

	(void)state;
	bench_open(&bench);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		values = (struct values){0};
		assert_false(bench_load(&bench, fields, texts[i], &values));
	}
	assert_int_equal(diag_errors(bench.load.diag), sizeof(texts) / sizeof(*texts));
	assert_null(strstr(bench_problems(&bench), "S3CRET"));
	assert_non_null(strstr(bench_problems(&bench), "'x***'"));
	diag_destroy(bench.load.diag);
	bench.load.diag = diag_create();
	load(&bench, "{text: 'a ${SECRET}', path: '/${SECRET}', list: ['${SECRET}', b]}", &values);
	printed = bench_print(&bench, fields, &values);
	assert_non_null(strstr(printed, "text: \"a ***\"\npath: \"/***\"\n"));
	assert_non_null(strstr(printed, "list: [\"***\", b]\n"));
	assert_null(strstr(printed, "S3CRET"));
	assert_string_equal(field_shown(values.text), "a ***");
	/* Other arenas come and go; what this one holds stays known. */
	for (int i = 0; i < 600; i++) {
		struct bench other;

		bench_open(&other);
		load(&other, "{text: '${SECRET}', path: '/${SECRET}'}", &values);
		bench_close(&other);
	}
	load(&bench, "text: '${SECRET}'", &values);
	assert_string_equal(field_shown(values.text), "***");
	bench_close(&bench);
}

static void test_texts_print_so_that_they_read_back(void **state)
{
	static const char *const texts[] = {"plain", "", "a b", "no", "null", "~", "-x", "a: b",
		"#x", "a #b", "'q'", "\"q\"", "back\\slash", "line\nbreak", "tab\t", "\x7f", "100%",
		"$$", "${HOST}", "$", "{a}", "[a]", "*a", "&a", "!a", "|", ">", "@a", "\xc3\xa4",
		"a,b", "1e3", "true", "a:", "http://127.0.0.1:80/x", "?", "- a"};
	struct bench bench;

	(void)state;
	bench_open(&bench);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *const items[] = {texts[i], texts[i], NULL};
		const struct values values = {
			.text = texts[i],
			.choice = 1,
			.list = {.items = items, .count = 2},
			.verbatim = {.items = items, .count = 2},
			.few = 3,
			.port = 1,
			.wait = 1,
		};
		struct values back = {0};
		const char *printed = bench_print(&bench, fields, &values);

		load(&bench, printed, &back);
		assert_true(field_equal(fields, &values, &back));
	}
	bench_close(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_stay_what_they_are),
		cmocka_unit_test(test_values_at_their_limits),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_the_environment),
		cmocka_unit_test(test_the_environment_is_secret),
		cmocka_unit_test(test_texts_print_so_that_they_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
