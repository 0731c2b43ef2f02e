// SPDX-License-Identifier: MIT
/* Requests of gRPC calls: metadata by the rules, secrets of the moment, what the wire gets. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/grpc_look.h"
#include "probes/grpc_metadata.h"
#include "probes/grpc_request.h"
#include "probes/secret.h"

static void names_are_refused_by_rule(void **state)
{
	static const char *const fine[] = {"authorization", "x-a_b.c", "key-bin", "0"};
	static const char *const ours[] = {
		"te", "grpc-timeout", "grpc-", "content-type", "user-agent", "host", "connection"};
	static const char *const bad[] = {"", ":path", "a b", "a:", "\xc3\xbc"};

	(void)state;
	for (size_t i = 0; i < sizeof(fine) / sizeof(*fine); i++)
		assert_null(grpc_metadata_refusal(fine[i]));
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		assert_string_equal(grpc_metadata_refusal(ours[i]), "this one is set by probity");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_non_null(strstr(grpc_metadata_refusal(bad[i]), "only"));
	assert_string_equal(grpc_metadata_refusal("X-A"), "names are written in small letters");
}

static void expect_line(const char *name, const char *value, const char *wanted)
{
	char *line = grpc_metadata_line(name, value);

	assert_string_equal(line, wanted);
	secret_free(line);
}

static void binary_values_are_encoded(void **state)
{
	(void)state;
	expect_line("a", "b c", "a: b c");
	expect_line("a", "", "a;");
	expect_line("a-bin", "", "a-bin;");
	expect_line("a-bin", "f", "a-bin: Zg");
	expect_line("a-bin", "fo", "a-bin: Zm8");
	expect_line("a-bin", "foo", "a-bin: Zm9v");
	expect_line("a-bin", "foobar", "a-bin: Zm9vYmFy");
	expect_line("a-bin", "\xff\xfe\n", "a-bin: //4K");
	assert_false(grpc_metadata_is_binary("bin"));
	assert_true(grpc_metadata_is_binary("-bin"));
	assert_true(grpc_metadata_is_text(" ~"));
	assert_false(grpc_metadata_is_text("\n"));
	assert_false(grpc_metadata_is_text("\x7f"));
	assert_false(grpc_metadata_is_text("\xc3\xbc"));
}

static const struct conf_pair items[] = {
	{.name = "authorization", .value = {.value = "S3CRET", .prefix = "Bearer "}},
	{.name = "gone", .value = {.file = "/nonexistent", .prefix = ""}},
};

static struct grpc_conf conf = {
	.service = "shop",
	.origin = "https://web.internal",
	.host_line = "Host: web.internal:50051",
};

static void a_request_is_whole(void **state)
{
	static const char *const wanted[] = {"Content-Type: application/grpc", "TE: trailers",
		"Accept:", "Expect:", "Host: web.internal:50051", "grpc-timeout: 2500m",
		"authorization: Bearer S3CRET"};
	struct grpc_request request;
	const struct curl_slist *line;
	size_t count = 0;

	(void)state;
	conf.metadata = (struct conf_pairs){items, 1};
	assert_null(grpc_request_init(&request, &conf, "Check", 1.4999));
	assert_string_equal(request.url, "https://web.internal/grpc.health.v1.Health/Check");
	for (line = request.list; line != NULL; line = line->next) {
		assert_true(count < sizeof(wanted) / sizeof(*wanted));
		assert_string_equal(line->data, wanted[count++]);
	}
	assert_int_equal(count, sizeof(wanted) / sizeof(*wanted));
	assert_int_equal(request.body_length, 11);
	grpc_request_finish(&request);
	assert_null(request.list);
}

static void a_call_may_have_no_end(void **state)
{
	struct grpc_request request;

	(void)state;
	conf.metadata = (struct conf_pairs){NULL, 0};
	assert_null(grpc_request_init(&request, &conf, "Watch", 0));
	for (const struct curl_slist *line = request.list; line != NULL; line = line->next)
		assert_null(strstr(line->data, "grpc-timeout"));
	grpc_request_finish(&request);
	assert_null(grpc_request_init(&request, &conf, "Watch", 1e9));
	assert_string_equal(request.timeout_line, "grpc-timeout: 99999999m");
	grpc_request_finish(&request);
}

static void a_secret_that_cannot_be_read_is_named(void **state)
{
	struct grpc_request request;
	char *problem;

	(void)state;
	conf.metadata = (struct conf_pairs){items, 2};
	problem = grpc_request_init(&request, &conf, "Check", 1);
	assert_string_equal(problem, "metadata gone: /nonexistent: No such file or directory");
	free(problem);
	grpc_request_finish(&request);
}

static void first_bytes_tell_the_protocol(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *text;
	} rows[] = {
		{"\0\0\x12\4\0", 5, ""},
		{"\0", 1, ""},
		{"\0\0\x12\1\0", 5, "the server does not speak HTTP/2"},
		{"\x15\3\1\0\2", 5, "the server speaks TLS, and `tls` is not set"},
		{"\x16\3\3\0\2", 5, "the server speaks TLS, and `tls` is not set"},
		{"\x15", 1, "the server speaks TLS, and `tls` is not set"},
		{"\x15\4\1\0\2", 5, "the server does not speak HTTP/2"},
		{"HTTP/", 5, "the server speaks HTTP/1, not HTTP/2"},
		{"HTTP", 4, "the server does not speak HTTP/2"},
		{"-ERR ", 5, "the server does not speak HTTP/2"},
		{"", 0, "the connection was closed without an answer; is this a TLS port?"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct grpc_finding finding =
			grpc_look_judge((const unsigned char *)rows[i].bytes, rows[i].length);

		assert_string_equal(finding.text, rows[i].text);
		assert_int_equal(finding.reason == REASON_NONE, *rows[i].text == '\0');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_refused_by_rule),
		cmocka_unit_test(binary_values_are_encoded),
		cmocka_unit_test(a_request_is_whole),
		cmocka_unit_test(a_call_may_have_no_end),
		cmocka_unit_test(a_secret_that_cannot_be_read_is_named),
		cmocka_unit_test(first_bytes_tell_the_protocol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
