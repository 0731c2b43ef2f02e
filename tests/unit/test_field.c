// SPDX-License-Identifier: MIT
/* The walker: unknown, missing and inherited keys, maps in maps, variants, short forms. */
#include "unit.h"

#include <string.h>

#include "config_bench.h"

struct limits {
	unsigned int most;
	double age;
};

struct fetch {
	const char *url;
	const char *method;
	struct limits limits;
	unsigned int derived; /* by the check */
};

struct check {
	const char *name;
	double interval;
	unsigned int tries;
	struct limits limits;
	struct limits *extra;
	struct conf_choice_of probe;
};

struct root {
	struct limits limits;
	struct conf_items checks;
	struct conf_choice_of maybe;
};

static const struct conf_field limit_fields[] = {
	CONF_COUNT(struct limits, most, .fallback = "7", .help = "Most"),
	CONF_DURATION(struct limits, age, .help = "Age"),
	{0},
};

static bool check_limits(void *conf, const struct conf_node *node, struct conf_load *load)
{
	const struct limits *limits = conf;

	return limits->most != 13 ||
		conf_error_at(load, node_mark(node, "most"), "thirteen is too many");
}

static const struct conf_field fetch_fields[] = {
	CONF_STRING(struct fetch, url, .flags = CONF_REQUIRED, .help = "Where"),
	CONF_STRING(struct fetch, method, .fallback = "GET", .help = "How"),
	CONF_MAP(struct fetch, limits, limits, limit_fields, .check = check_limits,
		.shorthand = "most", .help = "Limits"),
	{0},
};

static bool check_fetch(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct fetch *fetch = conf;

	fetch->derived = 42;
	return strcmp(fetch->url, "bad") != 0 || conf_error(load, node, "a bad place");
}

struct touch {
	const char *path;
	struct conf_strings words;
};

static const struct conf_field touch_fields[] = {
	CONF_STRING(struct touch, path, .help = "What"),
	CONF_STRINGS(struct touch, words, .help = "Words"),
	{0},
};

static const struct conf_variant fetch_variant = {
	.name = "fetch",
	.summary = "Fetches",
	.fields = fetch_fields,
	.size = sizeof(struct fetch),
	.shorthand = "url",
	.check = check_fetch,
};
static const struct conf_variant touch_variant = {
	.name = "touch",
	.summary = "Touches",
	.fields = touch_fields,
	.size = sizeof(struct touch),
	.shorthand = "words",
};
static const struct conf_variant *const variants[] = {&fetch_variant, &touch_variant, NULL};

static const struct conf_variant maybe_variant = {
	.name = "maybe",
	.summary = "May be there",
	.fields = limit_fields,
	.size = sizeof(struct limits),
};
static const struct conf_variant *const maybe_variants[] = {&maybe_variant, NULL};

static const struct conf_field check_fields[] = {
	CONF_STRING(struct check, name, .flags = CONF_REQUIRED, .help = "Name"),
	CONF_DURATION(struct check, interval, .fallback = "10s", .min = 1, .max = 60,
		.flags = CONF_INHERIT, .help = "Interval"),
	CONF_COUNT(struct check, tries, .fallback = "1", .min = 1, .max = 9, .help = "Tries"),
	CONF_MAP(struct check, limits, limits, limit_fields, .flags = CONF_INHERIT,
		.check = check_limits, .help = "Limits"),
	CONF_MAP_IF(struct check, extra, limits, limit_fields, .help = "More limits"),
	CONF_ONEOF(struct check, probe, .variants = variants, .flags = CONF_REQUIRED,
		.help = "What is done"),
	{0},
};

static const struct conf_field root_fields[] = {
	CONF_MAP(struct root, limits, limits, limit_fields, .help = "Limits of all"),
	CONF_LIST(
		struct root, checks, check, check_fields, .flags = CONF_REQUIRED, .help = "Checks"),
	CONF_ONEOF(struct root, maybe, .variants = maybe_variants, .help = "Perhaps"),
	{0},
};

static void test_a_whole_configuration(void **state)
{
	struct bench bench;
	struct root root = {0};
	const struct check *checks;
	const struct fetch *fetch;
	const struct touch *touch;

	(void)state;
	bench_open(&bench);
	assert_true(bench_load(&bench, root_fields,
		"checks:\n"
		"  - {name: a, fetch: {url: x, limits: 3}, interval: 5s, extra: {}}\n"
		"  - name: b\n"
		"    touch: [x, 'y']\n"
		"    limits: {age: 1m}\n",
		&root));
	assert_int_equal(root.limits.most, 7);
	assert_int_equal(root.checks.count, 2);
	assert_null(root.maybe.variant);
	checks = root.checks.items;
	assert_ptr_equal(checks[0].probe.variant, &fetch_variant);
	assert_int_equal(checks[0].probe.mark.line, 2);
	assert_int_equal(checks[0].probe.mark.column, 15);
	fetch = checks[0].probe.conf;
	assert_string_equal(fetch->url, "x");
	assert_string_equal(fetch->method, "GET");
	assert_int_equal(fetch->limits.most, 3);
	assert_int_equal(fetch->derived, 42);
	assert_true(checks[0].interval == 5);
	assert_int_equal(checks[0].tries, 1);
	assert_non_null(checks[0].extra);
	assert_int_equal(checks[0].extra->most, 7);
	touch = checks[1].probe.conf;
	assert_null(touch->path);
	assert_int_equal(touch->words.count, 2);
	assert_string_equal(touch->words.items[1], "y");
	assert_null(touch->words.items[2]);
	assert_true(checks[1].interval == 10);
	assert_true(checks[1].limits.age == 60);
	assert_int_equal(checks[1].limits.most, 7);
	assert_null(checks[1].extra);
	bench_close(&bench);
}

static void test_what_is_wrong_with_keys(void **state)
{
	static const struct {
		const char *text, *problems;
	} rows[] = {
		{"checkz: []",
			"1:1: unknown key 'checkz'; did you mean 'checks'?\n"
			"1:1: key 'checks' is missing\n"},
		{"{checks: [], qqq: 1}", "1:14: unknown key 'qqq'\n"},
		{"checks: [{name: a, fetch: x, intervall: 5s}]",
			"1:30: unknown key 'intervall' in the checks list; did you mean "
			"'interval'?\n"},
		{"checks: [{name: a, fetsh: x}]",
			"1:10: no probe here; add one of the keys fetch or touch\n"
			"1:20: unknown key 'fetsh' in the checks list; did you mean 'fetch'?\n"},
		{"checks: [{name: a, fetch: x, touch: [y]}]",
			"1:30: a second probe, 'touch' beside 'fetch' in line 1; keep one of fetch "
			"or "
			"touch\n"},
		{"checks: [{fetch: x}]", "1:10: key 'name' is missing in the checks list\n"},
		{"checks: [{name: a, fetch: {method: x}}]",
			"1:27: key 'url' is missing in the fetch probe\n"},
		{"checks: [{name: a, fetch: {url: x, interval: 5s}}]",
			"1:36: unknown key 'interval' in the fetch probe; it belongs one level "
			"up\n"},
		{"checks: [{name: a, fetch: {url: x, limits: {interval: 5s}}}]",
			"1:45: unknown key 'interval' in the limits map; it belongs further up\n"},
		{"checks: [{name: a, fetch: x, method: POST}]",
			"1:30: unknown key 'method' in the checks list; put it into the map under "
			"'fetch'\n"},
		{"checks: [{name: a, touch: x}]", "1:27: 'words' is a list, such as [a, b]\n"},
		{"checks: [{name: a, fetch: }]", "1:27: key 'url' is missing in the fetch probe\n"},
		{"checks: {name: a}", "1:9: 'checks' is a list; start each item with '- '\n"},
		{"checks: [a]", "1:10: 'checks' is a map, such as {name: ...}\n"},
		{"{checks: [], limits: 5}", "1:22: 'limits' is a map, such as {most: ...}\n"},
		{"[a]", "1:1: a map of keys is wanted here, such as {limits: ...}\n"},
		{"checks: [{name: [a], fetch: {url: {}}}]",
			"1:17: 'name' wants a text, not a list\n"
			"1:35: 'url' wants a text, not a map\n"},
		{"checks: [{name: , fetch: ~}]",
			"1:17: 'name' has no value; leave it out, or give it a text\n"
			"1:26: key 'url' is missing in the fetch probe\n"},
		{"checks: [{name: a, fetch: x, tries: 0, interval: 2m}]",
			"1:37: 'tries' must be from 1 to 9\n"
			"1:50: 'interval' must be from 1s to 1m\n"},
	};
	struct bench bench;

	(void)state;
	bench_open(&bench);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		bench_expect(&bench, root_fields, rows[i].text, rows[i].problems);
	bench_close(&bench);
}

static void test_rules_between_keys(void **state)
{
	struct bench bench;

	(void)state;
	bench_open(&bench);
	bench_expect(&bench, root_fields, "checks: [{name: a, fetch: bad}]", "1:27: a bad place\n");
	bench_expect(&bench, root_fields,
		"checks: [{name: a, fetch: {url: x, limits: {most: 13}}}]",
		"1:51: thirteen is too many\n");
	/* The short form has no keys: the place is its own. */
	bench_expect(&bench, root_fields, "checks: [{name: a, fetch: {url: x, limits: 13}}]",
		"1:44: thirteen is too many\n");
	/* A rule is not asked about values that are wrong already. */
	bench_expect(&bench, root_fields,
		"checks: [{name: a, fetch: x, limits: {most: 13, age: 5}}]",
		"1:54: 'age': '5' is not a duration: it needs a unit, such as 10s, 5m or 250ms\n");
	bench_close(&bench);
}

static void test_nothing_behind_a_key_is_an_empty_map(void **state)
{
	struct bench bench;
	struct root root = {.limits = {.most = 1}};

	(void)state;
	bench_open(&bench);
	assert_true(bench_load(&bench, root_fields, "limits:\nchecks:\nmaybe:\n", &root));
	assert_int_equal(root.limits.most, 7);
	assert_int_equal(root.checks.count, 0);
	assert_ptr_equal(root.maybe.variant, &maybe_variant);
	assert_int_equal(((const struct limits *)root.maybe.conf)->most, 7);
	bench_close(&bench);
}

static void test_defaults_answer_for_some_keys(void **state)
{
	struct bench bench;
	struct check check = {0};
	const struct conf_node *tree;
	const char *text = "check: {name: a, fetch: x}\n"
			   "defaults: {interval: 30s, tries: 5, name: b, limits: {most: 9}}\n";

	(void)state;
	bench_open(&bench);
	tree = node_parse(bench.load.arena, "t.yaml", text, strlen(text), bench.load.diag);
	assert_true(field_load(&bench.load, check_fields, node_get(tree, "check"),
		node_get(tree, "defaults"), &check));
	assert_true(check.interval == 30);
	assert_int_equal(check.limits.most, 9);
	/* These rows do not inherit. */
	assert_int_equal(check.tries, 1);
	assert_string_equal(check.name, "a");
	bench_close(&bench);
}

static bool same(struct bench *bench, const char *one, const char *other)
{
	struct root a = {0}, b = {0};

	assert_true(bench_load(bench, root_fields, one, &a));
	assert_true(bench_load(bench, root_fields, other, &b));
	return field_equal(root_fields, &a, &b);
}

static void test_equal_configurations(void **state)
{
	static const char base[] = "checks: [{name: a, fetch: x, extra: {most: 1}}]";
	static const char *const others[] = {
		"checks: []",
		"checks: [{name: b, fetch: x, extra: {most: 1}}]",
		"checks: [{name: a, fetch: y, extra: {most: 1}}]",
		"checks: [{name: a, touch: [x], extra: {most: 1}}]",
		"checks: [{name: a, fetch: x, extra: {most: 2}}]",
		"checks: [{name: a, fetch: x}]",
		"checks: [{name: a, fetch: x, interval: 11s, extra: {most: 1}}]",
		"{checks: [{name: a, fetch: x, extra: {most: 1}}], maybe: {}}",
		"{checks: [{name: a, fetch: x, extra: {most: 1}}], limits: {most: 8}}",
		"checks: [{name: a, fetch: x, extra: {most: 1}}, {name: a, fetch: x}]",
	};
	struct bench bench;

	(void)state;
	bench_open(&bench);
	assert_true(same(&bench, base, base));
	/* Another way to say the same. */
	assert_true(same(&bench, base,
		"checks:\n- {name: 'a', interval: 10000ms, fetch: {url: x}, extra: {most: 1}}"));
	assert_true(same(&bench, "checks: []", "checks:"));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(same(&bench, base, others[i]));
	bench_close(&bench);
}

static void test_what_is_in_force_is_printed(void **state)
{
	static const char text[] = "checks:\n"
				   "  - name: a\n"
				   "    interval: 10s\n"
				   "    tries: 1\n"
				   "    limits:\n"
				   "      most: 7\n"
				   "      age: 1m\n"
				   "    extra:\n"
				   "      most: 0\n"
				   "      age: 0s\n"
				   "    fetch:\n"
				   "      url: x\n"
				   "      method: GET\n"
				   "      limits:\n"
				   "        most: 7\n"
				   "        age: 0s\n"
				   "  - name: b\n"
				   "    interval: 10s\n"
				   "    tries: 1\n"
				   "    limits:\n"
				   "      most: 7\n"
				   "      age: 0s\n"
				   "    touch:\n"
				   "      words: [x, \"1\", \"a b\"]\n"
				   "maybe:\n"
				   "  most: 7\n"
				   "  age: 0s\n";
	struct bench bench;
	struct root root = {0}, again = {0};
	const char *printed;

	(void)state;
	bench_open(&bench);
	assert_true(bench_load(&bench, root_fields,
		"checks: [{name: a, fetch: x, limits: {age: 60s}, extra: {most: 0}}, {name: b, "
		"touch: [x, 1, a b]}]\nmaybe: {}",
		&root));
	printed = bench_print(&bench, root_fields, &root);
	assert_non_null(strstr(printed, text));
	/* And it loads as the same. */
	assert_true(bench_load(&bench, root_fields, printed, &again));
	assert_true(field_equal(root_fields, &root, &again));
	bench_close(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_whole_configuration),
		cmocka_unit_test(test_what_is_wrong_with_keys),
		cmocka_unit_test(test_rules_between_keys),
		cmocka_unit_test(test_nothing_behind_a_key_is_an_empty_map),
		cmocka_unit_test(test_defaults_answer_for_some_keys),
		cmocka_unit_test(test_equal_configurations),
		cmocka_unit_test(test_what_is_in_force_is_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
