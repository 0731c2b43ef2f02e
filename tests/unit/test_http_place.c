// SPDX-License-Identifier: MIT
/* URLs taken apart, shown without secrets, and redirects allowed or refused. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "probes/http_place.h"

static void test_path_and_query_stay_as_written(void **state)
{
	struct http_place place = {0};
	struct http_login login = {0};

	(void)state;
	assert_true(http_place_parse(
		"http://us%40er:p%2Fw@127.0.0.1:8080/a/%2F/../%2f?x=%20a#f", NULL, &place, &login));
	assert_string_equal(place.url, "http://127.0.0.1:8080/a/%2F/../%2f?x=%20a");
	assert_string_equal(place.host, "127.0.0.1");
	assert_int_equal(place.port, 8080);
	assert_false(place.tls);
	assert_string_equal(login.user, "us@er");
	assert_string_equal(login.password, "p/w");
	http_place_finish(&place);
	http_login_finish(&login);
}

static void test_hosts_and_ports(void **state)
{
	static const struct {
		const char *text, *host, *authority;
		unsigned int port;
	} rows[] = {
		{"http://web", "web", "web", 80},
		{"https://web:443/", "web", "web", 443},
		{"https://web:80/", "web", "web:80", 80},
		{"HTTP://web?x", "web", "web", 80},
		{"http://[::1]:81/x", "::1", "[::1]:81", 81},
		{"http://[fe80::1%25lo]/", "fe80::1%lo", "[fe80::1%25lo]", 80},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct http_place place = {0};
		char *authority;

		assert_true(http_place_parse(rows[i].text, NULL, &place, NULL));
		authority = http_place_authority(&place);
		assert_string_equal(place.host, rows[i].host);
		assert_string_equal(authority, rows[i].authority);
		assert_int_equal(place.port, rows[i].port);
		free(authority);
		http_place_finish(&place);
	}
}

static void test_what_is_no_url(void **state)
{
	static const char *const texts[] = {"", "web", "/path", "http://", "http://a b/",
		"http://h:port/", "http://h:65536/", "http://[::1/", "http://h\n/"};
	struct http_place place = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_false(http_place_parse(texts[i], NULL, &place, NULL));
	assert_null(place.url);
}

static void test_locations_are_seen_from_the_request(void **state)
{
	static const char base[] = "http://web:8080/a/b?q";
	static const struct {
		const char *location, *url;
	} rows[] = {
		{"/x", "http://web:8080/x"},
		{"c", "http://web:8080/a/c"},
		{"?y", "http://web:8080/a/b?y"},
		{"//other/x", "http://other/x"},
		{"https://other", "https://other/"},
		{"http://u:p@web:8080/x#f", "http://web:8080/x"},
		{"/a b/\xc3\xa9", "http://web:8080/a%20b/%c3%a9"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct http_place place = {0};

		assert_true(http_place_parse(rows[i].location, base, &place, NULL));
		assert_false(place.foreign);
		assert_string_equal(place.url, rows[i].url);
		http_place_finish(&place);
	}
}

static void test_nothing_secret_is_shown(void **state)
{
	static const struct {
		const char *text, *shown;
	} rows[] = {
		{"http://h/a", "http://h/a"},
		{"http://u:S3CRET@h/a?S3CRET#S3CRET", "http://u:***@h/a?…"},
		{"http://S3CRET@h/a#S3CRET", "http://***@h/a"},
		{"http://u:S3CRET@S3CRET@h/", "http://u:***@h/"},
		{"http:///u:S3CRET@h/", "http:///u:***@h/"},
		{"//u:S3CRET@h/", "//u:***@h/"},
		{"/a?to=http://u:S3CRET@h/", "/a?…"},
		{"/users/@me", "/users/@me"},
		{"mailto:u:S3CRET@h", "mailto:…"},
		{"gopher://127.0.0.1:70/_x", "gopher://127.0.0.1:70/_x"},
		{"file:///etc/hostname", "file:///etc/hostname"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *shown = http_redact(rows[i].text);

		assert_string_equal(shown, rows[i].shown);
		free(shown);
	}
}

static void test_long_locations_are_cut(void **state)
{
	char text[4096] = "http://h/";
	char *shown;

	(void)state;
	memset(text + 9, 'a', sizeof(text) - 10);
	shown = http_redact(text);
	assert_true(strlen(shown) < 300);
	assert_string_equal(shown + strlen(shown) - 4, "a…");
	free(shown);
	memset(text + 7, 'a', 3);
	shown = http_redact(text);
	assert_true(strlen(shown) < 600);
	free(shown);
}

/* One row: who asks, where it is sent, and what each of the three modes says to it. */
static void test_redirects_are_followed_only_where_allowed(void **state)
{
	static const struct {
		const char *from, *to;
		bool same_host, follow;
	} rows[] = {
		{"http://a/x", "http://a/y", true, true},
		{"http://a/x", "http://A:80/y", true, true},
		{"http://a/x", "https://a/y", true, true},
		{"http://a:8080/x", "https://a/y", false, true},
		{"http://a/x", "https://a:8443/y", false, true},
		{"http://a/x", "http://a:81/y", false, true},
		{"http://a/x", "http://b/y", false, true},
		{"http://a/x", "https://b/y", false, true},
		{"https://a/x", "https://a/y", true, true},
		{"https://a/x", "http://a/y", false, false},
		{"https://a/x", "http://a:443/y", false, false},
		{"https://a/x", "https://b/y", false, true},
		{"http://a/x", "file:///etc/hostname", false, false},
		{"http://a/x", "gopher://a:80/_x", false, false},
		{"http://a/x", "mailto:a", false, false},
		{"http://a/x", "ftp://a/x", false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct http_place from = {0}, to = {0};

		assert_true(http_place_parse(rows[i].from, NULL, &from, NULL));
		assert_true(http_place_parse(rows[i].to, from.url, &to, NULL));
		assert_int_equal(
			http_refusal(HTTP_SAME_HOST, &from, &to, 0) == NULL, rows[i].same_host);
		assert_int_equal(http_refusal(HTTP_FOLLOW, &from, &to, 0) == NULL, rows[i].follow);
		assert_non_null(http_refusal(HTTP_NONE, &from, &to, 0));
		assert_int_equal(http_refusal(HTTP_FOLLOW, &from, &to, 4) == NULL, rows[i].follow);
		assert_non_null(http_refusal(HTTP_FOLLOW, &from, &to, 5));
		http_place_finish(&from);
		http_place_finish(&to);
	}
}

static void test_only_post_becomes_get(void **state)
{
	(void)state;
	assert_string_equal(http_redirected_method("POST", 301), "GET");
	assert_string_equal(http_redirected_method("POST", 302), "GET");
	assert_string_equal(http_redirected_method("POST", 307), "POST");
	assert_string_equal(http_redirected_method("POST", 308), "POST");
	assert_string_equal(http_redirected_method("PUT", 302), "PUT");
	assert_string_equal(http_redirected_method("PUT", 303), "GET");
	assert_string_equal(http_redirected_method("HEAD", 303), "HEAD");
	for (long status = 100; status < 600; status++)
		assert_int_equal(http_is_redirect(status),
			status == 301 || status == 302 || status == 303 || status == 307 ||
				status == 308);
}

static void test_another_name_for_the_same_place(void **state)
{
	struct http_place place = {0};
	char *url;

	(void)state;
	assert_true(http_place_parse("https://[::1]:8443/%2F?x", NULL, &place, NULL));
	url = http_place_renamed(&place, "web.internal");
	assert_string_equal(url, "https://web.internal:8443/%2F?x");
	free(url);
	url = http_place_renamed(&place, "2001:db8::1");
	assert_string_equal(url, "https://[2001:db8::1]:8443/%2F?x");
	free(url);
	assert_null(http_place_renamed(&place, "a/b"));
	assert_null(http_place_renamed(&place, "u@a"));
	assert_null(http_place_renamed(&place, ""));
	assert_null(http_place_renamed(&place, "a b"));
	assert_null(http_place_renamed(&place, "a:80"));
	http_place_finish(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path_and_query_stay_as_written),
		cmocka_unit_test(test_hosts_and_ports),
		cmocka_unit_test(test_what_is_no_url),
		cmocka_unit_test(test_locations_are_seen_from_the_request),
		cmocka_unit_test(test_nothing_secret_is_shown),
		cmocka_unit_test(test_long_locations_are_cut),
		cmocka_unit_test(test_redirects_are_followed_only_where_allowed),
		cmocka_unit_test(test_only_post_becomes_get),
		cmocka_unit_test(test_another_name_for_the_same_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
