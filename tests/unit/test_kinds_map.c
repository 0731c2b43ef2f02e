// SPDX-License-Identifier: MIT
/* A map that is absent, and a variant on its own. */
#include "unit.h"

#include <string.h>

#include "config_bench.h"

struct fetch {
	const char *url;
	const char *method;
	unsigned int derived; /* by the check */
};

static const struct conf_field fetch_fields[] = {
	CONF_STRING(struct fetch, url, .flags = CONF_REQUIRED, .help = "Where"),
	CONF_STRING(struct fetch, method, .fallback = "GET", .help = "How"),
	{0},
};

static bool check_fetch(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct fetch *fetch = conf;

	fetch->derived = 42;
	return strcmp(fetch->url, "bad") != 0 || conf_error(load, node, "a bad place");
}

static void test_an_absent_map_misses_no_keys(void **state)
{
	static const struct conf_field rows[] = {
		{.key = "fetch",
			.kind = &conf_map,
			.fields = fetch_fields,
			.size = sizeof(struct fetch),
			.check = check_fetch,
			.help = "Fetch"},
		{0},
	};
	struct bench bench;
	struct fetch fetch = {0};

	(void)state;
	bench_open(&bench);
	assert_true(bench_load(&bench, rows, "{}", &fetch));
	assert_null(fetch.url);
	assert_string_equal(fetch.method, "GET");
	/* Its rules are for what was written. */
	assert_int_equal(fetch.derived, 0);
	bench_expect(&bench, rows, "fetch: {}", "1:8: key 'url' is missing in the fetch map\n");
	bench_close(&bench);
}

static void test_one_variant_alone(void **state)
{
	static const struct conf_variant variant = {
		.name = "fetch",
		.summary = "Fetches",
		.fields = fetch_fields,
		.size = sizeof(struct fetch),
		.shorthand = "url",
		.check = check_fetch,
	};
	struct bench bench;
	struct fetch fetch = {0}, other = {0};
	const struct conf_node *tree;

	(void)state;
	bench_open(&bench);
	tree = node_parse(bench.load.arena, "t.yaml", "x", 1, bench.load.diag);
	assert_true(variant_load(&bench.load, &variant, tree, &fetch));
	assert_string_equal(fetch.url, "x");
	assert_int_equal(fetch.derived, 42);
	tree = node_parse(bench.load.arena, "t.yaml", "bad", 3, bench.load.diag);
	assert_false(variant_load(&bench.load, &variant, tree, &other));
	assert_string_equal(bench_problems(&bench), "1:1: a bad place\n");
	bench_close(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_absent_map_misses_no_keys),
		cmocka_unit_test(test_one_variant_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
