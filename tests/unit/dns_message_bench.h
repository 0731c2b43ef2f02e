/* SPDX-License-Identifier: MIT */
/* tests/unit/dns_message_bench.h: answers written byte by byte, and what is read of them. */
#ifndef TESTS_UNIT_DNS_MESSAGE_BENCH_H
#define TESTS_UNIT_DNS_MESSAGE_BENCH_H

#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/dns_message.h"

#define ID 0x1234
#define QUESTION 12 /* where it stands, and where pointers to its name lead */

/* A message being written, in memory of its own size when it is read. */
static struct packet {
	unsigned char bytes[70000];
	size_t length;
} packet;

static struct dns_query query;

static inline void put16(unsigned int value)
{
	packet.bytes[packet.length++] = (unsigned char)(value >> 8);
	packet.bytes[packet.length++] = (unsigned char)value;
}

static inline void put_bytes(const void *bytes, size_t length)
{
	memcpy(packet.bytes + packet.length, bytes, length);
	packet.length += length;
}

/* "one.web.test" as labels; "" is the root. */
static inline void put_name(const char *name)
{
	while (*name != '\0') {
		size_t label = strcspn(name, ".");

		packet.bytes[packet.length++] = (unsigned char)label;
		put_bytes(name, label);
		name += label + (name[label] == '.');
	}
	packet.bytes[packet.length++] = 0;
}

/* Header and question of an answer, with so many records in its first section. */
static inline void begin(unsigned int flags, unsigned int answers)
{
	packet.length = 0;
	put16(ID);
	put16(flags);
	put16(1);
	put16(answers);
	put16(0);
	put16(0);
	put_bytes(query.bytes + QUESTION, query.question - QUESTION);
}

/* All of a record but its data; the owner is at that offset. */
static inline void put_record(unsigned int owner, unsigned int type, unsigned int size)
{
	put16(0xC000 | owner);
	put16(type);
	put16(DNS_IN);
	put16(0);
	put16(60);
	put16(size);
}

static inline void ask(const char *name, enum dns_type type)
{
	const struct dns_question question = {.name = name, .type = type, .recursion = true};

	dns_query_finish(&query);
	assert_true(dns_query_init(&question, ID, &query));
}

static inline enum dns_reading read_packet(struct dns_answer *answer, const char **problem)
{
	unsigned char *copy = malloc(packet.length + 1);
	const struct dns_bytes message = {.bytes = copy, .length = packet.length};
	enum dns_reading reading;

	memcpy(copy, packet.bytes, packet.length);
	reading = dns_message_read(&query, &message, answer, problem);
	free(copy);
	return reading;
}

static inline void expect_text(size_t count, const char *text)
{
	struct dns_answer answer = {0};
	const char *problem = NULL;

	assert_int_equal(read_packet(&answer, &problem), DNS_READ);
	assert_int_equal(answer.count, count);
	assert_string_equal(answer.text, text);
	dns_answer_clear(&answer);
}

static inline void expect_broken(const char *wanted)
{
	struct dns_answer answer = {0};
	const char *problem = NULL;

	assert_int_equal(read_packet(&answer, &problem), DNS_BROKEN);
	assert_string_equal(problem, wanted);
	assert_null(answer.text);
}

static inline void expect_foreign(void)
{
	struct dns_answer answer = {0};
	const char *problem = NULL;

	assert_int_equal(read_packet(&answer, &problem), DNS_FOREIGN);
}

#define CUT "sent a record that is cut, or whose name leads nowhere"
#define BAD_DATA "sent a record whose data is not of its type"

static inline int end_query(void **state)
{
	(void)state;
	dns_query_finish(&query);
	return 0;
}

#endif
