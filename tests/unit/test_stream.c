// SPDX-License-Identifier: MIT
/* Conversations over a socket pair or loopback, and the text that is sent. */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/stream.h"
#include "probes/stream_text.h"

static char problem[256];

bool field_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct conf_text *ret_text)
{
	(void)load;
	(void)field;
	*ret_text = (struct conf_text){.text = node->text, .shown = "***"};
	return true;
}

bool conf_error(struct conf_load *load, const struct conf_node *node, const char *format, ...)
{
	va_list arguments;

	(void)load;
	(void)node;
	va_start(arguments, format);
	(void)vsnprintf(problem, sizeof(problem), format, arguments);
	va_end(arguments);
	return false;
}

struct talk {
	struct stream *stream;
	int peer;
	unsigned int received, sent, ended;
	int error;
};

static void on_received(void *owner)
{
	((struct talk *)owner)->received++;
}

static void on_sent(void *owner)
{
	((struct talk *)owner)->sent++;
}

static void on_ended(void *owner, int error)
{
	struct talk *talk = owner;

	talk->ended++;
	talk->error = error;
}

/* Over TCP: only there does a reset exist. */
static struct talk *begin(struct talk *talk)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_return_code(bind(listener, (struct sockaddr *)&address, length), errno);
	assert_return_code(listen(listener, 1), errno);
	assert_return_code(getsockname(listener, (struct sockaddr *)&address, &length), errno);
	assert_return_code(connect(fd, (struct sockaddr *)&address, length), errno);
	*talk = (struct talk){.peer = accept(listener, NULL, NULL)};
	close(listener);
	assert_return_code(fcntl(fd, F_SETFL, O_NONBLOCK), errno);
	assert_return_code(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){8192}, sizeof(int)), 0);
	talk->stream = stream_create(&(struct stream_setup){
		.loop = EV_DEFAULT,
		.take_fd = fd,
		.received = on_received,
		.sent = on_sent,
		.ended = on_ended,
		.owner = talk,
	});
	return talk;
}

static void run(void)
{
	for (int i = 0; i < 200; i++)
		ev_run(EV_DEFAULT_ EVRUN_NOWAIT);
}

static void answers_gather_until_consumed(void **state)
{
	struct talk talk;
	size_t length;

	(void)state;
	begin(&talk);
	(void)stream_bytes(talk.stream, &length);
	assert_int_equal(length, 0);
	assert_int_equal(send(talk.peer, "22", 2, 0), 2);
	run();
	assert_int_equal(send(talk.peer, "0 mx", 4, 0), 4);
	run();
	assert_memory_equal(stream_bytes(talk.stream, &length), "220 mx", 6);
	assert_int_equal(length, 6);
	assert_int_equal(talk.received, 2);
	stream_consume(talk.stream, 4);
	assert_memory_equal(stream_bytes(talk.stream, &length), "mx", 2);
	assert_int_equal(length, 2);
	assert_int_equal(talk.ended, 0);
	close(talk.peer);
	run();
	assert_int_equal(talk.ended, 1);
	assert_int_equal(talk.error, 0);
	stream_destroy(talk.stream);
	stream_destroy(NULL);
}

static void a_reset_is_told(void **state)
{
	struct talk talk;
	struct linger reset = {.l_onoff = 1, .l_linger = 0};

	(void)state;
	begin(&talk);
	(void)setsockopt(talk.peer, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(talk.peer);
	run();
	assert_int_equal(talk.ended, 1);
	assert_int_equal(talk.error, ECONNRESET);
	stream_destroy(talk.stream);
}

static void a_flood_ends_at_the_window(void **state)
{
	static char flood[4096];
	struct talk talk;
	size_t length;

	(void)state;
	begin(&talk);
	while (talk.ended == 0) {
		(void)send(talk.peer, flood, sizeof(flood), MSG_DONTWAIT | MSG_NOSIGNAL);
		run();
	}
	assert_int_equal(talk.error, ENOBUFS);
	(void)stream_bytes(talk.stream, &length);
	assert_int_equal(length, STREAM_WINDOW);
	stream_destroy(talk.stream);
	close(talk.peer);
}

static void much_is_sent_in_parts(void **state)
{
	const size_t size = 4 << 20;
	char *much = malloc(size), *got = malloc(size);
	size_t have = 0;
	struct talk talk;

	(void)state;
	for (size_t i = 0; i < size; i++)
		much[i] = (char)(i * 7 / 5);
	begin(&talk);
	stream_send(talk.stream, much, size / 2);
	stream_send(talk.stream, much + size / 2, size - size / 2);
	run();
	assert_int_equal(talk.sent, 0);
	while (have < size) {
		ssize_t more = recv(talk.peer, got + have, size - have, MSG_DONTWAIT);

		have += more > 0 ? (size_t)more : 0;
		ev_run(EV_DEFAULT_ EVRUN_NOWAIT);
	}
	run();
	assert_int_equal(talk.sent, 1);
	assert_memory_equal(much, got, size);
	stream_destroy(talk.stream);
	close(talk.peer);
	free(much);
	free(got);
}

/* The farewell of a server that no longer listens is heard before the end. */
static void what_was_said_before_the_end_counts(void **state)
{
	struct talk talk;
	size_t length;

	(void)state;
	begin(&talk);
	assert_int_equal(send(talk.peer, "554 no\r\n", 8, 0), 8);
	close(talk.peer);
	stream_send(talk.stream, "EHLO\r\n", 6);
	run();
	assert_memory_equal(stream_bytes(talk.stream, &length), "554 no\r\n", 8);
	assert_int_equal(talk.ended, 1);
	stream_destroy(talk.stream);
}

/* Unread bytes would turn the close into a reset, which servers count as an error. */
static void parting_is_polite(void **state)
{
	static const char unread[20000];
	struct talk talk;
	int error = 0;
	socklen_t length = sizeof(error);
	char byte;

	(void)state;
	begin(&talk);
	assert_int_equal(send(talk.peer, unread, sizeof(unread), 0), sizeof(unread));
	stream_destroy(talk.stream);
	assert_int_equal(recv(talk.peer, &byte, 1, 0), 0);
	/* A reset behind the FIN shows here only. */
	assert_return_code(getsockopt(talk.peer, SOL_SOCKET, SO_ERROR, &error, &length), errno);
	assert_int_equal(error, 0);
	close(talk.peer);
}

static void last_words_are_sent_at_once(void **state)
{
	static char bytes[64 * 1024];
	struct talk talk;

	(void)state;
	begin(&talk);
	stream_part(talk.stream, "QUIT", 4);
	assert_int_equal(recv(talk.peer, bytes, sizeof(bytes), 0), 4);
	assert_memory_equal(bytes, "QUIT", 4);
	assert_int_equal(recv(talk.peer, bytes, sizeof(bytes), 0), 0);
	close(talk.peer);

	/* They are no part of what was cut off before them. */
	begin(&talk);
	stream_send(talk.stream, "half", 4);
	stream_part(talk.stream, "QUIT", 4);
	assert_int_equal(recv(talk.peer, bytes, sizeof(bytes), 0), 0);
	close(talk.peer);

	begin(&talk);
	close(talk.peer);
	run();
	stream_part(talk.stream, "QUIT", 4);
}

static void escapes_are_bytes(void **state)
{
	static const struct {
		const char *text, *bytes;
		size_t length;
	} cases[] = {
		{"PING\\r\\n", "PING\r\n", 6},
		{"\\x00\\xfF\\t\\\\n", "\0\xFF\t\\n", 5},
		{"plain \xC3\xA9", "plain \xC3\xA9", 8},
		{"\\", NULL, 0},
		{"\\q", NULL, 0},
		{"\\x4", NULL, 0},
		{"\\xg0", NULL, 0},
		{"\\x", NULL, 0},
		{"", NULL, 0},
	};
	struct conf_load load = {.arena = arena_create()};
	const struct conf_field row = {.key = "send"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct conf_node node = {.type = CONF_SCALAR, .text = cases[i].text};
		struct stream_text text = {0};
		bool fine = stream_escaped.parse(&load, &row, &node, &text);

		if (fine != (cases[i].bytes != NULL))
			fail_msg("'%s'", cases[i].text);
		if (!fine)
			continue;
		assert_int_equal(text.length, cases[i].length);
		assert_memory_equal(text.bytes, cases[i].bytes, text.length);
		assert_true(stream_escaped.equal(&row, &text, &text));
		assert_false(stream_escaped.equal(&row, &text, &(struct stream_text){0}));
	}
	arena_destroy(load.arena);
}

static void what_was_expanded_is_not_printed(void **state)
{
	struct conf_load load = {.arena = arena_create()};
	struct conf_node node = {.type = CONF_SCALAR, .text = "AUTH secret"};
	struct stream_text text = {0};
	char *printed = NULL;
	size_t size;
	FILE *stream = open_memstream(&printed, &size);

	(void)state;
	assert_true(stream_escaped.parse(&load, &(struct conf_field){.key = "send"}, &node, &text));
	stream_escaped.print(NULL, &text, stream);
	(void)fclose(stream);
	assert_string_equal(printed, "\"***\"");
	free(printed);
	arena_destroy(load.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_gather_until_consumed),
		cmocka_unit_test(a_reset_is_told),
		cmocka_unit_test(a_flood_ends_at_the_window),
		cmocka_unit_test(much_is_sent_in_parts),
		cmocka_unit_test(what_was_said_before_the_end_counts),
		cmocka_unit_test(parting_is_polite),
		cmocka_unit_test(last_words_are_sent_at_once),
		cmocka_unit_test(escapes_are_bytes),
		cmocka_unit_test(what_was_expanded_is_not_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
