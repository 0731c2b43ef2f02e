// SPDX-License-Identifier: MIT
/* URLs and endpoints: what is taken, what is refused, and what is shown of them. */
#include "unit.h"

#include <string.h>

#include "config_bench.h"

struct values {
	struct conf_url url;
	struct conf_address address;
};

static const struct conf_field fields[] = {
	CONF_URL(struct values, url, .help = "URL"),
	CONF_ADDRESS(struct values, address, .help = "Address"),
	{0},
};

static void load(struct bench *bench, const char *key, const char *text, struct values *values)
{
	const char *yaml = arena_printf(bench->load.arena, "%s: '%s'", key, text);

	*values = (struct values){0};
	if (!bench_load(bench, fields, yaml, values))
		print_message("%s: %s", text, bench_problems(bench));
	assert_int_equal(diag_errors(bench->load.diag), 0);
}

static void test_urls(void **state)
{
	static const struct {
		const char *text, *shown, *scheme, *host;
		unsigned int port;
	} rows[] = {
		{"http://a/", "http://a/", "http", "a", 80},
		{"https://a", "https://a", "https", "a", 443},
		{"HTTP://A/", "HTTP://A/", "http", "A", 80},
		{"http://127.0.0.1:8080/x/%2F/../y", "http://127.0.0.1:8080/x/%2F/../y", "http",
			"127.0.0.1", 8080},
		{"http://[::1]:81/", "http://[::1]:81/", "http", "::1", 81},
		{"http://[::1]", "http://[::1]", "http", "::1", 80},
		{"http://a_b.c-d.e.:65535?q=S3CRET", "http://a_b.c-d.e.:65535?…", "http",
			"a_b.c-d.e.", 65535},
		{"http://user:S3CRET@a/p?S3CRET=S3CRET", "http://user:***@a/p?…", "http", "a", 80},
		{"http://S3CRET@a/p", "http://***@a/p", "http", "a", 80},
		{"http://u:S3CRET:S3CRET@a:1/", "http://u:***@a:1/", "http", "a", 1},
		{"http://a/@x", "http://a/@x", "http", "a", 80},
		{"http://a/?q=b@c", "http://a/?…", "http", "a", 80},
		{"http://${HOST}/${SECRET}?t=${SECRET}", "http://***/***?…", "http", "10.0.0.1",
			80},
		{"https://u:${SECRET}@a/", "https://u:***@a/", "https", "a", 443},
		{"http://a:${PORT}/", "http://a:***/", "http", "a", 8080},
	};
	struct bench bench;
	struct values values;

	(void)state;
	bench_open(&bench);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		load(&bench, "url", rows[i].text, &values);
		if (strchr(rows[i].text, '$') == NULL)
			assert_string_equal(values.url.text, rows[i].text);
		assert_string_equal(values.url.shown, rows[i].shown);
		assert_string_equal(values.url.scheme, rows[i].scheme);
		assert_string_equal(values.url.host, rows[i].host);
		assert_int_equal(values.url.port, rows[i].port);
		assert_null(strstr(bench_print(&bench, fields, &values), "S3CRET"));
	}
	assert_int_equal(diag_warnings(bench.load.diag), 0);
	load(&bench, "url", "http://a/#/health", &values);
	assert_int_equal(diag_warnings(bench.load.diag), 1);
	assert_non_null(strstr(bench_problems(&bench), "behind '#' is never sent"));
	bench_close(&bench);
}

/* What is wrong, and how the URL is shown with it. */
static const struct {
	const char *text, *shown, *reason;
} bad_urls[] = {
	{"ftp://u:S3CRET@a/", "ftp://u:***@a/", "start with http:// or https://"},
	{"127.0.0.1:80/x", "127.0.0.1:80/x", "start with http:// or https://"},
	{"u:S3CRET@a?S3CRET", "u:***@a?…", "start with http:// or https://"},
	{"http:/a/", "http:/a/", "start with http:// or https://"},
	{"", "", "start with http:// or https://"},
	{"http://", "http://", "its host is missing"},
	{"http:///x", "http:///x", "its host is missing"},
	{"http://:80/", "http://:80/", "its host is missing"},
	{"http://u:S3CRET@/", "http://u:***@/", "its host is missing"},
	{"http://a b/", "http://a b/", "a blank or a control character"},
	{"http://a/x y?S3CRET", "http://a/x y?…", "a blank or a control character"},
	{"http://a/\xc3\xa4", "http://a/\xc3\xa4", "beyond ASCII"},
	{"http://a/%2", "http://a/%2", "two hexadecimal digits"},
	{"http://a/100%", "http://a/100%", "two hexadecimal digits"},
	{"http://a:/", "http://a:/", "a port must follow its ':'"},
	{"http://a:0/", "http://a:0/", "from 1 to 65535"},
	{"http://a:65536/", "http://a:65536/", "from 1 to 65535"},
	{"http://a:123456789012345678901/", "http://a:123456789012345678901/", "from 1 to 65535"},
	{"http://a:080/", "http://a:080/", "a leading zero"},
	{"http://a:8x/", "http://a:8x/", "is not a number"},
	/* A password with a slash that should have been %2F: none of it may be shown. */
	{"http://u:S3CRET/S3CRET@a/", "http://u:***@a/", "is not a number"},
	{"http://u:S3CRET?S3CRET@a/", "http://u:***@a/", "is not a number"},
	{"http://u:S3CRET@S3CRET@a b/", "http://u:***@a b/", "a blank or a control character"},
	{"http://::1/", "http://::1/", "stands in brackets"},
	{"http://[::1/", "http://[::1/", "a ']' is missing"},
	{"http://[::1]x/", "http://[::1]x/", "only a port may follow"},
	{"http://[a]/", "http://[a]/", "not an IPv6 address"},
	{"http://[fe80::1%25eth0]/", "http://[fe80::1%25eth0]/", "zone"},
	{"http://127.1/", "http://127.1/", "four numbers"},
	{"http://127.0.0.256/", "http://127.0.0.256/", "four numbers"},
	{"http://2130706433/", "http://2130706433/", "four numbers"},
	{"http://a..b/", "http://a..b/", "is empty or longer"},
	{"http://a\\b/", "http://a\\b/", "a character that no name has"},
	{"http://*/", "http://*/", "a character that no name has"},
	{"http://a${SECRET}$/", "http://a***$/", "a character that no name has"},
};

static void test_urls_that_are_refused(void **state)
{
	struct bench bench;

	(void)state;
	bench_open(&bench);
	for (size_t i = 0; i < sizeof(bad_urls) / sizeof(*bad_urls); i++) {
		struct values values = {0};
		const char *text = arena_printf(bench.load.arena, "url: '%s'", bad_urls[i].text);
		const char *problems;

		assert_false(bench_load(&bench, fields, text, &values));
		problems = bench_problems(&bench);
		if (strstr(problems, bad_urls[i].reason) == NULL)
			print_message("%s: %s", text, problems);
		assert_non_null(strstr(problems, bad_urls[i].reason));
		assert_non_null(strstr(problems,
			arena_printf(bench.load.arena, "'url': '%s' is not", bad_urls[i].shown)));
		assert_null(strstr(problems, "S3CRET"));
		assert_null(values.url.text);
		diag_destroy(bench.load.diag);
		bench.load.diag = diag_create();
	}
	bench_close(&bench);
}

static void test_endpoints(void **state)
{
	struct bench bench;
	struct values values;

	(void)state;
	bench_open(&bench);
	load(&bench, "address", "127.0.0.1:25", &values);
	assert_string_equal(values.address.host, "127.0.0.1");
	assert_int_equal(values.address.port, 25);
	assert_null(values.address.path);
	load(&bench, "address", "[2001:db8::1]:65535", &values);
	assert_string_equal(values.address.host, "2001:db8::1");
	assert_int_equal(values.address.port, 65535);
	load(&bench, "address", "db.internal.:1", &values);
	assert_string_equal(values.address.host, "db.internal.");
	load(&bench, "address", "unix:///run/x.sock", &values);
	assert_null(values.address.host);
	assert_string_equal(values.address.path, "/run/x.sock");
	assert_string_equal(values.address.shown, "unix:///run/x.sock");
	load(&bench, "address", "${HOST}:${PORT}", &values);
	assert_string_equal(values.address.host, "10.0.0.1");
	assert_string_equal(values.address.shown, "***:***");
	assert_string_equal(bench_print(&bench, fields, &values), "address: \"***:***\"\n");
	bench_close(&bench);
}

static void test_endpoints_that_are_refused(void **state)
{
	static const char *const rows[][2] = {{"a", "its port is missing"},
		{"a:", "a port must follow"}, {":80", "its host is missing"},
		{"a:0", "from 1 to 65535"}, {"a:65536", "from 1 to 65535"},
		{"a:08500", "a leading zero"}, {"::1:80", "brackets"},
		{"[::1]", "its port is missing"}, {"http://a:80", "without a scheme"},
		{"tcp://a:80", "without a scheme"},
		{"unix:/run/x", "write a unix socket as unix:///PATH"},
		{"unix://run/x", "must be absolute"}, {"12:30", "four numbers"},
		{"a b:80", "no name"}, {"u@a:80", "no name"}, {"a:80/x", "not a number"},
		{"", "its host is missing"},
		{"unix:///"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			"at most 107 bytes"}};
	struct bench bench;

	(void)state;
	bench_open(&bench);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct values values = {0};
		const char *text = arena_printf(bench.load.arena, "address: '%s'", rows[i][0]);

		assert_false(bench_load(&bench, fields, text, &values));
		assert_non_null(strstr(bench_problems(&bench), "1:10: 'address': '"));
		assert_non_null(strstr(bench_problems(&bench), rows[i][1]));
		diag_destroy(bench.load.diag);
		bench.load.diag = diag_create();
	}
	bench_close(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_urls),
		cmocka_unit_test(test_urls_that_are_refused),
		cmocka_unit_test(test_endpoints),
		cmocka_unit_test(test_endpoints_that_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
