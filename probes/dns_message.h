/* SPDX-License-Identifier: MIT */
/* probes/dns_message.h: a question as bytes, and what an answer to it says. Pure. */
#ifndef PROBES_DNS_MESSAGE_H
#define PROBES_DNS_MESSAGE_H

#include <stdint.h>

#include "probes/dns_record.h"

/* Bytes that an answer over UDP may have: RFC 6891; no fragments (DNS flag day 2020). */
#define DNS_UDP_MOST 1232

/* CNAMEs that are followed in one answer, as many as BIND does. */
#define DNS_MOST_CNAMES 16

struct dns_question {
	const char *name; /* "web.example.org", whole, with or without a dot behind it */
	enum dns_type type;
	bool recursion; /* the server is asked to ask others */
};

/* A question as a message. A struct of zeroes is none. */
struct dns_query {
	unsigned char *bytes; /* owned */
	size_t length;
	size_t question; /* header and question, which an answer repeats, are so long */
};

/* False where no server could be asked for the name; *ret_query is then untouched. */
bool dns_query_init(const struct dns_question *question, uint16_t id, struct dns_query *ret_query);
void dns_query_finish(struct dns_query *query);

struct dns_answer {
	unsigned int rcode; /* enum dns_rcode and others */
	bool authoritative;
	bool truncated; /* then nothing below is set */
	size_t count; /* records of the type, of the name or where its CNAMEs lead */
	char *text; /* those, one a line, sorted: servers rotate them; owned */
};

enum dns_reading {
	DNS_READ, /* *ret_answer is filled; dns_answer_clear() */
	DNS_FOREIGN, /* no answer to this question, whoever it is from */
	DNS_BROKEN, /* an answer to it, but not a sound one: *ret_problem, static, says why */
};

/* The bytes are hostile; the effort is bounded, and nothing is kept of them. */
enum dns_reading dns_message_read(const struct dns_query *query, const struct dns_bytes *message,
	struct dns_answer *ret_answer, const char **ret_problem);
void dns_answer_clear(struct dns_answer *answer);

#endif
