// SPDX-License-Identifier: MIT
/* Answers of gRPC servers, line by line and byte by byte, and what each comes to. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/grpc_answer.h"

#define HEAD "HTTP/2 200 \r\ncontent-type: application/grpc\r\n\r\n"
#define OK_TRAILER "grpc-status: 0\r\n\r\n"

struct row {
	const char *head; /* lines, each with its break */
	const char *body;
	size_t length;
	const char *trailers;
	enum probe_reason reason; /* REASON_NONE: passing */
	const char *text;
};

#define BODY(text) text, sizeof(text) - 1
#define SERVING BODY("\0\0\0\0\2\x08\1")

static const struct row rows[] = {
	{HEAD, SERVING, OK_TRAILER, REASON_NONE, "SERVING"},
	{HEAD, BODY("\0\0\0\0\2\x08\2"), OK_TRAILER, REASON_STATUS, "NOT_SERVING"},
	{HEAD, BODY("\0\0\0\0\2\x08\0"), OK_TRAILER, REASON_STATUS, "UNKNOWN"},
	{HEAD, BODY("\0\0\0\0\0"), OK_TRAILER, REASON_STATUS, "UNKNOWN"},
	{HEAD, BODY("\0\0\0\0\2\x08\3"), OK_TRAILER, REASON_STATUS, "SERVICE_UNKNOWN"},
	{HEAD, BODY("\0\0\0\0\2\x08\7"), OK_TRAILER, REASON_STATUS, "serving status 7"},
	/* An enum of -1, in ten bytes. */
	{HEAD, BODY("\0\0\0\0\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"), OK_TRAILER,
		REASON_STATUS, "serving status -1"},
	/* The last one counts; fields of later versions are passed over. */
	{HEAD, BODY("\0\0\0\0\x15\x08\2\x12\1x\x19\0\0\0\0\0\0\0\1\x25\1\2\3\4\x08\1"), OK_TRAILER,
		REASON_NONE, "SERVING"},
	/* status as a text is not ours, though it has our number. */
	{HEAD, BODY("\0\0\0\0\3\x0a\1\1"), OK_TRAILER, REASON_STATUS, "UNKNOWN"},
	{HEAD, BODY("\0\0\0\0\1\x08"), OK_TRAILER, REASON_PROTOCOL,
		"the message is not a HealthCheckResponse"},
	{HEAD, BODY("\0\0\0\0\3\x12\5x"), OK_TRAILER, REASON_PROTOCOL,
		"the message is not a HealthCheckResponse"},
	{HEAD, BODY("\0\0\0\0\2\x0b\1"), OK_TRAILER, REASON_PROTOCOL,
		"the message is not a HealthCheckResponse"},
	{HEAD, BODY("\0\0\0\0\2\0\1"), OK_TRAILER, REASON_PROTOCOL,
		"the message is not a HealthCheckResponse"},
	{HEAD, BODY("\0\0\0\0\2\x08"), OK_TRAILER, REASON_CUT, "the message is not whole"},
	{HEAD, BODY("\0\0\0"), OK_TRAILER, REASON_CUT, "the message is not whole"},
	{HEAD, BODY(""), OK_TRAILER, REASON_PROTOCOL, "grpc-status is OK, but no message came"},
	{HEAD, BODY("\0\0\0\0\2\x08\1\0"), OK_TRAILER, REASON_PROTOCOL, "more than one message"},
	{HEAD, BODY("\1\0\0\0\2\x08\1"), OK_TRAILER, REASON_PROTOCOL,
		"the message is compressed, which was not offered"},
	{HEAD, BODY("<html>"), "", REASON_PROTOCOL,
		"the body is not gRPC: it does not begin as a message"},
	{HEAD, BODY("\0\0\0\x10\1"), "", REASON_PROTOCOL,
		"the message has 4097 bytes; at most 4096 are taken"},
	{HEAD, BODY("\0\xff\xff\xff\xff"), "", REASON_PROTOCOL,
		"the message has 4294967295 bytes; at most 4096 are taken"},
	{HEAD, SERVING, "", REASON_PROTOCOL, "a message, but no trailers with a grpc-status"},
	{HEAD, BODY(""), "", REASON_PROTOCOL, "HTTP 200, but no grpc-status"},
	{HEAD, SERVING, "grpc-status: 0\r\ngrpc-status: 0\r\n\r\n", REASON_PROTOCOL,
		"more than one grpc-status"},
	{HEAD, SERVING, "grpc-status: \r\n\r\n", REASON_PROTOCOL, "'' is no grpc-status"},
	{HEAD, SERVING, "grpc-status: 0x\r\n\r\n", REASON_PROTOCOL, "'0x' is no grpc-status"},
	{HEAD, SERVING, "grpc-status: -0\r\n\r\n", REASON_PROTOCOL, "'-0' is no grpc-status"},
	{HEAD, SERVING, "grpc-status: 0000000000\r\n\r\n", REASON_PROTOCOL,
		"'0000000000' is no grpc-status"},
	/* Trailers only. */
	{"HTTP/2 200 \r\ncontent-type: application/grpc+proto\r\ngrpc-status: 12\r\n"
	 "grpc-message: Method not found!\r\n\r\n",
		BODY(""), "", REASON_STATUS,
		"UNIMPLEMENTED (12), the server has no health service: Method not found!"},
	{HEAD, BODY(""), "Grpc-Status: 5\r\n\r\n", REASON_STATUS,
		"NOT_FOUND (5), the server does not know the service 'shop.Orders'"},
	{HEAD, SERVING, "grpc-status: 14\r\ngrpc-message: a%20b%C3%BC%\r\n\r\n", REASON_STATUS,
		"UNAVAILABLE (14): a b\xc3\xbc%"},
	{HEAD, SERVING, "grpc-status: 16\r\n\r\n", REASON_STATUS, "UNAUTHENTICATED (16)"},
	{HEAD, SERVING, "grpc-status: 17\r\n\r\n", REASON_STATUS, "grpc-status (17)"},
	/* What is not gRPC at all. */
	{"", BODY(""), "", REASON_PROTOCOL, "the answer is not HTTP/2"},
	{"HTTP/2 503 \r\ncontent-type: text/html\r\n\r\n", BODY("no"), "", REASON_STATUS,
		"HTTP 503"},
	{"HTTP/2 200 \r\ncontent-type: text/html\r\n\r\n", BODY("<html>"), "", REASON_PROTOCOL,
		"the answer is not gRPC: its content type is 'text/html'"},
	{"HTTP/2 200 \r\ncontent-type: application/grpc-web\r\n\r\n", SERVING, OK_TRAILER,
		REASON_PROTOCOL,
		"the answer is not gRPC: its content type is 'application/grpc-web'"},
	{"HTTP/2 200 \r\n\r\n", SERVING, OK_TRAILER, REASON_PROTOCOL,
		"the answer is not gRPC: it has no content type"},
	{"HTTP/2 20\r\n\r\n", BODY(""), "", REASON_PROTOCOL, "the answer is not HTTP/2"},
	/* An answer of 1xx before it. */
	{"HTTP/2 103 \r\ngrpc-status: 13\r\n\r\n" HEAD, SERVING, OK_TRAILER, REASON_NONE,
		"SERVING"},
};

static bool give_lines(struct grpc_answer *answer, const char *lines)
{
	bool goes_on = true;

	while (goes_on && *lines != '\0') {
		size_t length = (size_t)(strchr(lines, '\n') + 1 - lines);
		char *copy = xstrndup(lines, length);

		goes_on = grpc_answer_line(answer, copy, length);
		free(copy);
		lines += length;
	}
	return goes_on;
}

static bool give_body(struct grpc_answer *answer, const struct row *row, size_t piece)
{
	bool goes_on = true;

	for (size_t at = 0; goes_on && at < row->length; at += piece) {
		size_t size = row->length - at < piece ? row->length - at : piece;

		goes_on = grpc_answer_body(answer, row->body + at, size);
	}
	return goes_on;
}

static void each_answer_has_its_verdict(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (size_t piece = 1; piece <= rows[i].length + 1; piece++) {
			struct grpc_answer answer = {.stream = {.most = 1}};
			struct grpc_verdict verdict;

			(void)(give_lines(&answer, rows[i].head) &&
				give_body(&answer, &rows[i], piece) &&
				give_lines(&answer, rows[i].trailers));
			verdict = grpc_answer_judge(&answer, "shop.Orders");
			assert_string_equal(verdict.text, rows[i].text);
			assert_int_equal(verdict.reason, rows[i].reason);
			assert_int_equal(verdict.status,
				rows[i].reason == REASON_NONE ? PROBE_PASSING : PROBE_CRITICAL);
			free(verdict.text);
			grpc_answer_finish(&answer);
			assert_int_equal(answer.stream.most, 1);
		}
	}
}

static void headers_have_a_limit(void **state)
{
	struct grpc_answer answer = {.stream = {.most = 1}};
	struct grpc_verdict verdict;
	unsigned int lines = 0;

	(void)state;
	assert_true(give_lines(&answer, "HTTP/2 200 \r\n"));
	while (give_lines(&answer, "grpc-message: 0123456789012345678901234567890123456789\r\n"))
		lines++;
	assert_in_range(lines, 1000, 2000);
	assert_true(grpc_answer_is_broken(&answer));
	verdict = grpc_answer_judge(&answer, "");
	assert_string_equal(verdict.text, "the headers are too long");
	free(verdict.text);
	grpc_answer_finish(&answer);
}

static void a_server_without_a_status_of_its_own_is_said(void **state)
{
	struct grpc_answer answer = {.stream = {.most = 1}};
	struct grpc_verdict verdict;

	(void)state;
	assert_true(give_lines(&answer, HEAD "grpc-status: 5\r\n\r\n"));
	verdict = grpc_answer_judge(&answer, "");
	assert_string_equal(
		verdict.text, "NOT_FOUND (5), the server has no status for the whole of it");
	free(verdict.text);
	grpc_answer_finish(&answer);
}

static void what_is_broken_counts_before_the_end(void **state)
{
	struct grpc_answer answer = {.stream = {.most = 1}};

	(void)state;
	assert_false(grpc_answer_is_broken(&answer));
	assert_null(grpc_answer_progress(&answer));
	assert_true(give_lines(&answer, "HTTP/2 200 \r\n"));
	assert_string_equal(grpc_answer_progress(&answer), "headers incomplete");
	/* The content type may still come. */
	assert_false(grpc_answer_is_broken(&answer));
	assert_true(give_lines(&answer, "content-type: application/grpc\r\n\r\n"));
	assert_string_equal(grpc_answer_progress(&answer), "headers, but no message");
	assert_false(grpc_answer_is_broken(&answer));
	assert_true(grpc_answer_body(&answer, "\0\0\0\0\2\x08\1", 7));
	assert_string_equal(grpc_answer_progress(&answer), "a message, but no grpc-status");
	assert_true(give_lines(&answer, "grpc-status: 0\r\n"));
	/* The end of the transfer has its own word. */
	assert_false(grpc_answer_is_broken(&answer));
	grpc_answer_finish(&answer);
	assert_true(give_lines(&answer, HEAD "grpc-status: 2\r\n"));
	assert_true(grpc_answer_is_broken(&answer));
	grpc_answer_finish(&answer);
}

static void count_message(void *owner, const unsigned char *bytes, size_t length)
{
	assert_int_equal(length, 2);
	*(int *)owner += bytes[1];
}

static void a_stream_has_many_messages(void **state)
{
	static const char bytes[] = "\0\0\0\0\2\x08\1\0\0\0\0\2\x08\2\0\0\0\0\2\x08\4\0";
	int sum = 0;
	struct grpc_stream stream = {.message = count_message, .owner = &sum};

	(void)state;
	assert_true(grpc_stream_take(&stream, bytes, sizeof(bytes) - 1));
	assert_int_equal(stream.count, 3);
	assert_int_equal(sum, 7);
	assert_true(grpc_stream_is_open(&stream));
}

static void requests_are_as_protobuf_wants_them(void **state)
{
	char name[301];
	size_t length;
	char *bytes = grpc_request_encode("", &length);

	(void)state;
	assert_int_equal(length, 5);
	assert_memory_equal(bytes, "\0\0\0\0\0", 5);
	free(bytes);
	bytes = grpc_request_encode("shop", &length);
	assert_int_equal(length, 11);
	assert_memory_equal(bytes, "\0\0\0\0\6\x0a\4shop", 11);
	free(bytes);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	bytes = grpc_request_encode(name, &length);
	assert_int_equal(length, 5 + 3 + 300);
	assert_memory_equal(bytes, "\0\0\0\1\x2f\x0a\xac\2nnn", 11);
	free(bytes);
}

static void only_escapes_are_decoded(void **state)
{
	static const char *const pairs[][2] = {{"", ""}, {"%41%62c", "Abc"}, {"%4", "%4"},
		{"%", "%"}, {"%zz%e2%82%aC", "%zz\xe2\x82\xac"}, {"a%00b", "a%00b"},
		{"%2541", "%41"}};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		char *text = xstrdup(pairs[i][0]);

		grpc_percent_decode(text);
		assert_string_equal(text, pairs[i][1]);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_answer_has_its_verdict),
		cmocka_unit_test(headers_have_a_limit),
		cmocka_unit_test(a_server_without_a_status_of_its_own_is_said),
		cmocka_unit_test(what_is_broken_counts_before_the_end),
		cmocka_unit_test(a_stream_has_many_messages),
		cmocka_unit_test(requests_are_as_protobuf_wants_them),
		cmocka_unit_test(only_escapes_are_decoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
