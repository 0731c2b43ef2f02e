// SPDX-License-Identifier: MIT
/* Replies of Redis: hiredis parses, our objects and limits bound what it can be made to hold. */
#include "probes/redis_reply.h"

#include <hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"

struct redis_reader {
	redisReader *parser;
	size_t fed;
	bool over; /* some bytes were left out */
	bool too_long; /* an array announced too many elements */
	char first; /* of the reply that is read */
	char *problem;
};

/* Puts a new one into the array that it belongs to. */
static struct redis_reply *add_reply(const redisReadTask *task, enum redis_reply_type type)
{
	struct redis_reply *reply = xcalloc(1, sizeof(*reply)), *parent;

	reply->type = type;
	if (task->parent != NULL) {
		parent = task->parent->obj;
		parent->elements[task->idx] = reply;
		parent->count = (size_t)task->idx + 1;
	}
	return reply;
}

static void *create_string(const redisReadTask *task, char *text, size_t length)
{
	enum redis_reply_type type = task->type == REDIS_REPLY_STATUS ? REDIS_STATUS
		: task->type == REDIS_REPLY_ERROR                     ? REDIS_ERROR
								      : REDIS_STRING;
	struct redis_reply *reply = add_reply(task, type);

	reply->text = xcalloc(length + 1, 1);
	memcpy(reply->text, text, length);
	reply->length = length;
	return reply;
}

static void *create_array(const redisReadTask *task, int elements)
{
	struct redis_reader *reader = task->privdata;
	struct redis_reply *reply;

	/* An announced length costs the sender nothing. */
	if (elements > REDIS_MOST_ELEMENTS) {
		reader->too_long = true;
		return NULL;
	}
	reply = add_reply(task, REDIS_ARRAY);
	reply->elements = xcalloc((size_t)elements + 1, sizeof(struct redis_reply *));
	return reply;
}

static void *create_integer(const redisReadTask *task, long long integer)
{
	struct redis_reply *reply = add_reply(task, REDIS_INTEGER);

	reply->integer = integer;
	return reply;
}

static void *create_nil(const redisReadTask *task)
{
	return add_reply(task, REDIS_NIL);
}

static void free_object(void *reply)
{
	redis_reply_destroy(reply);
}

static redisReplyObjectFunctions functions = {
	.createString = create_string,
	.createArray = create_array,
	.createInteger = create_integer,
	.createNil = create_nil,
	.freeObject = free_object,
};

void redis_reply_destroy(struct redis_reply *reply)
{
	if (reply == NULL)
		return;
	/* As deep as hiredis lets arrays be nested. */
	for (size_t i = 0; i < reply->count; i++)
		redis_reply_destroy(reply->elements[i]);
	free(reply->elements);
	free(reply->text);
	free(reply);
}

const struct redis_reply *redis_reply_error(const struct redis_reply *reply)
{
	const struct redis_reply *error = reply->type == REDIS_ERROR ? reply : NULL;

	for (size_t i = 0; error == NULL && i < reply->count; i++)
		error = redis_reply_error(reply->elements[i]);
	return error;
}

static void write_text(const struct redis_reply *reply, FILE *stream)
{
	if (reply->type == REDIS_INTEGER)
		(void)fprintf(stream, "%lld", reply->integer);
	else if (reply->text != NULL)
		(void)fwrite(reply->text, 1, reply->length, stream);
	for (size_t i = 0; i < reply->count; i++) {
		if (i > 0)
			(void)fputc('\n', stream);
		write_text(reply->elements[i], stream);
	}
}

char *redis_reply_text(const struct redis_reply *reply, size_t *ret_length)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, ret_length);

	if (stream == NULL)
		xfail();
	write_text(reply, stream);
	if (fclose(stream) != 0)
		xfail();
	return text;
}

struct redis_reader *redis_reader_create(void)
{
	struct redis_reader *reader = xcalloc(1, sizeof(*reader));

	reader->parser = redisReaderCreateWithFunctions(&functions);
	if (reader->parser == NULL)
		xfail();
	reader->parser->privdata = reader;
	return reader;
}

void redis_reader_destroy(struct redis_reader *reader)
{
	if (reader == NULL)
		return;
	redisReaderFree(reader->parser);
	free(reader->problem);
	free(reader);
}

void redis_reader_feed(struct redis_reader *reader, const void *bytes, size_t length)
{
	size_t room = REDIS_MOST_BYTES - reader->fed;

	reader->over = reader->over || length > room;
	length = length > room ? room : length;
	reader->fed += length;
	/* It fails without memory, and where it has failed before, which next() tells again. */
	if (redisReaderFeed(reader->parser, bytes, length) != REDIS_OK &&
		reader->parser->err == REDIS_ERR_OOM && !reader->too_long)
		xfail();
}

/* Between two replies. hiredis may have made room for the next one without a byte of it. */
static bool is_between(const redisReader *parser)
{
	return parser->ridx == -1 || (parser->ridx == 0 && parser->rstack[0].type < 0);
}

enum redis_read redis_reader_next(struct redis_reader *reader, struct redis_reply **ret_reply)
{
	redisReader *parser = reader->parser;
	void *reply = NULL;

	if (is_between(parser) && parser->pos < parser->len)
		reader->first = parser->buf[parser->pos];
	if (redisReaderGetReply(parser, &reply) != REDIS_OK) {
		if (parser->err == REDIS_ERR_OOM && !reader->too_long)
			xfail();
		return reader->too_long ? REDIS_READ_TOO_MUCH : REDIS_READ_NONSENSE;
	}
	if (reply != NULL) {
		*ret_reply = reply;
		return REDIS_READ_REPLY;
	}
	return reader->over ? REDIS_READ_TOO_MUCH : REDIS_READ_MORE;
}

bool redis_reader_has_begun(const struct redis_reader *reader)
{
	return !is_between(reader->parser) || reader->parser->pos < reader->parser->len;
}

const char *redis_reader_problem(struct redis_reader *reader)
{
	unsigned char first = (unsigned char)reader->first;
	/* A status line of HTTP; the alert record of TLS (RFC 8446, 5.1). */
	const char *hint = first == 'H' ? "; is this an HTTP port?"
		: first == 0x15         ? "; is this a TLS port?"
					: "";

	free(reader->problem);
	if (first != '\0' && strchr("+-:$*", first) != NULL)
		reader->problem = xstrdup(reader->parser->errstr);
	else if (first > ' ' && first < 0x7f)
		reader->problem = xprintf("no reply begins with '%c'%s", first, hint);
	else
		reader->problem = xprintf("no reply begins with byte 0x%02x%s", first, hint);
	return reader->problem;
}
