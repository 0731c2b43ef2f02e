/* SPDX-License-Identifier: MIT */
/* probes/redis_reply.h: replies of Redis, read from bytes that anybody may have sent. */
#ifndef PROBES_REDIS_REPLY_H
#define PROBES_REDIS_REPLY_H

#include <stdbool.h>
#include <stddef.h>

/* All replies of one run together: INFO has 7 KiB. */
#define REDIS_MOST_BYTES ((size_t)128 * 1024)
#define REDIS_MOST_ELEMENTS 16384 /* of one array; nested at most 7 deep, by hiredis */

enum redis_reply_type {
	REDIS_STATUS, /* +PONG */
	REDIS_ERROR, /* -ERR ... */
	REDIS_INTEGER, /* :1 */
	REDIS_STRING, /* $4 PONG */
	REDIS_NIL, /* $-1 and *-1 */
	REDIS_ARRAY,
};

struct redis_reply {
	enum redis_reply_type type;
	char *text; /* of status, error and string: any bytes, and a NUL behind them */
	size_t length; /* of text */
	long long integer;
	struct redis_reply **elements; /* of an array; filled ones only */
	size_t count;
};

void redis_reply_destroy(struct redis_reply *reply); /* accepts NULL */

/* The first error in it, itself included; NULL where there is none. */
const struct redis_reply *redis_reply_error(const struct redis_reply *reply);

/* As text: an array has a line for each element, at any depth; nil is empty. free(). */
char *redis_reply_text(const struct redis_reply *reply, size_t *ret_length);

enum redis_read {
	REDIS_READ_MORE, /* not whole yet */
	REDIS_READ_REPLY,
	REDIS_READ_TOO_MUCH, /* over a limit above */
	REDIS_READ_NONSENSE, /* no reply; see redis_reader_problem() */
};

/* Gives the same for the same bytes, however they are split. */
struct redis_reader;

struct redis_reader *redis_reader_create(void);
void redis_reader_destroy(struct redis_reader *reader); /* accepts NULL */
void redis_reader_feed(struct redis_reader *reader, const void *bytes, size_t length);

/* The next reply, the caller's. After the last two answers there is nothing more to read. */
enum redis_read redis_reader_next(struct redis_reader *reader, struct redis_reply **ret_reply);

/* Some bytes of a reply are there. */
bool redis_reader_has_begun(const struct redis_reader *reader);

/* After REDIS_READ_NONSENSE: what it is, one stable line. Borrowed until the next call. */
const char *redis_reader_problem(struct redis_reader *reader);

#endif
