// SPDX-License-Identifier: MIT
/* Replies from bytes: whole ones, in any pieces, and what nobody should be able to send us. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/redis_reply.h"

/* A reply as text, with its type; "..." for one that is not whole, "!" before a problem. */
static char *read_all(const char *bytes, size_t length, size_t piece)
{
	struct redis_reader *reader = redis_reader_create();
	struct redis_reply *reply;
	enum redis_read read = REDIS_READ_MORE;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	for (size_t at = 0; at < length && read == REDIS_READ_MORE; at += piece) {
		redis_reader_feed(reader, bytes + at, length - at < piece ? length - at : piece);
		while ((read = redis_reader_next(reader, &reply)) == REDIS_READ_REPLY) {
			size_t count;
			char *shown = redis_reply_text(reply, &count);

			(void)fprintf(stream, "%s%d ", reply->type == REDIS_ARRAY ? "a" : "",
				(int)reply->type);
			(void)fwrite(shown, 1, count, stream);
			(void)fputc(';', stream);
			free(shown);
			redis_reply_destroy(reply);
		}
	}
	if (read == REDIS_READ_TOO_MUCH)
		(void)fputs("!too much", stream);
	else if (read == REDIS_READ_NONSENSE)
		(void)fprintf(stream, "!%s", redis_reader_problem(reader));
	else if (redis_reader_has_begun(reader))
		(void)fputs("...", stream);
	(void)fclose(stream);
	redis_reader_destroy(reader);
	return text;
}

static void expect(const char *bytes, size_t length, const char *wanted)
{
	for (size_t piece = 1; piece <= length; piece = piece < 4 ? piece + 1 : piece * 3) {
		char *text = read_all(bytes, length, piece);

		assert_string_equal(text, wanted);
		free(text);
	}
}

static void whole_replies(void **state)
{
	static const struct {
		const char *bytes, *text;
	} rows[] = {
		{"+PONG\r\n", "0 PONG;"},
		{"+\r\n", "0 ;"},
		{"-ERR no\r\n", "1 ERR no;"},
		{":-12\r\n", "2 -12;"},
		{":9223372036854775807\r\n", "2 9223372036854775807;"},
		{"$5\r\na\r\nbc\r\n", "3 a\r\nbc;"},
		{"$0\r\n\r\n", "3 ;"},
		{"$-1\r\n", "4 ;"},
		{"*-1\r\n", "4 ;"},
		{"*0\r\n", "a5 ;"},
		{"*3\r\n:1\r\n$1\r\nx\r\n$-1\r\n", "a5 1\nx\n;"},
		{"*2\r\n*2\r\n+a\r\n+b\r\n*1\r\n*1\r\n:7\r\n", "a5 a\nb\n7;"},
		{"+OK\r\n+PONG\r\n:1\r\n", "0 OK;0 PONG;2 1;"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect(rows[i].bytes, strlen(rows[i].bytes), rows[i].text);
}

static void half_replies(void **state)
{
	static const char *const rows[] = {"+", "+PON", "+PONG\r", ":", "$", "$4\r\nPO",
		"$4\r\nPONG", "*", "*2\r\n", "*2\r\n+a\r\n", "*1\r\n*1\r\n", "*16384\r\n+a\r\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect(rows[i], strlen(rows[i]), "...");
	expect("", 0, "");
	expect("+OK\r\n*1\r\n", 9, "0 OK;...");
}

static void nonsense_is_named(void **state)
{
	static const struct {
		const char *bytes, *text;
	} rows[] = {
		{"HTTP/1.1 400 Bad Request\r\n",
			"!no reply begins with 'H'; is this an HTTP port?"},
		{"\x15\x03\x01", "!no reply begins with byte 0x15; is this a TLS port?"},
		{"SSH-2.0-x\r\n", "!no reply begins with 'S'"},
		{"\r\n", "!no reply begins with byte 0x0d"},
		{"\xff", "!no reply begins with byte 0xff"},
		/* RESP3 is not asked for. */
		{"%1\r\n+a\r\n+b\r\n", "!no reply begins with '%'"},
		{"_\r\n", "!no reply begins with '_'"},
		{"+OK\r\nX", "0 OK;!no reply begins with 'X'"},
		{":1x\r\n", "!Bad integer value"},
		{":\r\n", "!Bad integer value"},
		{":9223372036854775808\r\n", "!Bad integer value"},
		{"$-2\r\n", "!Bulk string length out of range"},
		{"$x\r\n", "!Bad bulk string length"},
		{"*-2\r\n", "!Multi-bulk length out of range"},
		{"*99999999999\r\n", "!Multi-bulk length out of range"},
		{"*1\r\nX\r\n", "!Protocol error, got \"X\" as reply type byte"},
		{"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
			"!No support for nested multi bulk replies with depth > 7"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect(rows[i].bytes, strlen(rows[i].bytes), rows[i].text);
}

/* These bytes and more x than anybody may send, in large pieces. */
static void expect_of_flood(const char *head, const char *wanted)
{
	size_t length = REDIS_MOST_BYTES + 100;
	char *bytes = malloc(length);

	assert_non_null(bytes);
	memset(bytes, 'x', length);
	for (size_t i = 0; head[i] != '\0'; i++)
		bytes[i] = head[i];
	for (size_t piece = 1000; piece <= length; piece *= 7) {
		char *text = read_all(bytes, length, piece);

		assert_string_equal(text, wanted);
		free(text);
	}
	free(bytes);
}

static void lengths_cost_the_sender_something(void **state)
{
	(void)state;
	expect("*2147483647\r\n", 13, "!too much");
	expect("*16385\r\n", 8, "!too much");
	expect("*1\r\n*16385\r\n", 12, "!too much");
	/* One that never ends, and one that says how long it is. */
	expect_of_flood("+", "!too much");
	expect_of_flood("$1000000000\r\n", "!too much");
	/* What came before the limit counts. */
	expect_of_flood("+PONG\r\n+", "0 PONG;!too much");
}

static void an_error_inside_is_found(void **state)
{
	static const char bytes[] = "*2\r\n+a\r\n*2\r\n+b\r\n-ERR deep\r\n";
	struct redis_reader *reader = redis_reader_create();
	struct redis_reply *reply = NULL;

	(void)state;
	redis_reader_feed(reader, bytes, sizeof(bytes) - 1);
	assert_int_equal(redis_reader_next(reader, &reply), REDIS_READ_REPLY);
	assert_string_equal(redis_reply_error(reply)->text, "ERR deep");
	assert_null(redis_reply_error(reply->elements[0]));
	redis_reply_destroy(reply);
	redis_reader_destroy(reader);
	redis_reader_destroy(NULL);
	redis_reply_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_replies),
		cmocka_unit_test(half_replies),
		cmocka_unit_test(nonsense_is_named),
		cmocka_unit_test(lengths_cost_the_sender_something),
		cmocka_unit_test(an_error_inside_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
