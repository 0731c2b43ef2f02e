// SPDX-License-Identifier: MIT
/* Ids in paths and filters, and what is said of the agent's refusals. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "runner/consul_text.h"

static void expect(char *take_text, const char *wanted)
{
	assert_string_equal(take_text, wanted);
	free(take_text);
}

static void ids_are_encoded_once(void **unused)
{
	(void)unused;
	expect(consul_text_encode("web-1:ready"), "web-1:ready");
	expect(consul_text_encode("svc /a/b#1?\xc3\xa9"), "svc%20%2Fa%2Fb%231%3F%C3%A9");
	expect(consul_text_encode("a%2Fb"), "a%252Fb");
	expect(consul_text_encode("a+b;c&d=\"\\"), "a%2Bb%3Bc%26d%3D%22%5C");
	expect(consul_text_encode(""), "");
}

static void filters_quote_what_can_be_quoted(void **unused)
{
	(void)unused;
	expect(consul_text_filter("web-1:ready"),
		"/v1/agent/checks?filter=CheckID%20%3D%3D%20%22web-1:ready%22");
	expect(consul_text_filter("a\"b"),
		"/v1/agent/checks?filter=CheckID%20%3D%3D%20%60a%22b%60");
	expect(consul_text_filter("a\\b"),
		"/v1/agent/checks?filter=CheckID%20%3D%3D%20%60a%5Cb%60");
	expect(consul_text_filter("a\"`b"), "/v1/agent/checks");
}

static void statuses_have_one_meaning_each(void **unused)
{
	static const struct {
		int code;
		enum consul_result result;
	} table[] = {{200, CONSUL_OK}, {204, CONSUL_BAD}, {301, CONSUL_BAD}, {307, CONSUL_BAD},
		{400, CONSUL_BAD}, {401, CONSUL_FORBIDDEN}, {403, CONSUL_FORBIDDEN},
		{404, CONSUL_NOT_FOUND}, {405, CONSUL_BAD}, {429, CONSUL_FAILED}, {431, CONSUL_BAD},
		{500, CONSUL_FAILED}, {503, CONSUL_FAILED}};

	(void)unused;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_int_equal(consul_text_result(table[i].code), table[i].result);
}

static void causes_are_one_short_line_without_the_token(void **unused)
{
	char page[5000];
	char *cause;

	(void)unused;
	expect(consul_text_cause(403, "Permission denied\nmore", 22, NULL),
		"403 Permission denied");
	expect(consul_text_cause(500, NULL, 0, NULL), "500");
	expect(consul_text_cause(403, "no S3CRET here, S3CRET", 22, "S3CRET"),
		"403 no ****** here, ******");
	expect(consul_text_cause(301, "<a href=\"http://elsewhere/\">", 28, NULL),
		"301, a redirect, which is not followed");
	memset(page, 'x', sizeof(page));
	cause = consul_text_cause(400, page, sizeof(page), "");
	assert_true(strlen(cause) < 300);
	free(cause);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_encoded_once),
		cmocka_unit_test(filters_quote_what_can_be_quoted),
		cmocka_unit_test(statuses_have_one_meaning_each),
		cmocka_unit_test(causes_are_one_short_line_without_the_token),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
