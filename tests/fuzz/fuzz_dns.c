// SPDX-License-Identifier: MIT
/* Answers of name servers: any bytes are read, refused or ignored; what is read is sound. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "probes/dns_message.h"

#define ID 0x1234
#define HEADER 12

static size_t count_lines(const char *text)
{
	size_t lines = *text != '\0';

	for (; *text != '\0'; text++)
		lines += *text == '\n';
	return lines;
}

static void check(const struct dns_answer *answer)
{
	FUZZ_HOLDS(answer->rcode < 4096);
	if (answer->truncated) {
		FUZZ_HOLDS(answer->count == 0 && answer->text == NULL);
		return;
	}
	FUZZ_HOLDS(count_lines(answer->text) == answer->count);
	for (const char *byte = answer->text; *byte != '\0'; byte++)
		FUZZ_HOLDS(*byte == '\n' || (unsigned char)*byte >= ' ');
}

/* The first byte: what was asked for, and whether the input is taken for an answer to it. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const enum dns_type types[] = {
		DNS_A, DNS_AAAA, DNS_SRV, DNS_TXT, DNS_MX, DNS_CNAME, DNS_PTR, DNS_SOA, DNS_NS};
	struct dns_question question = {.name = "web.test", .recursion = true};
	uint8_t *copy = NULL; /* of its own size, so that a sanitizer sees its end */
	struct dns_bytes message = {.length = length - 1};
	struct dns_answer answer = {0};
	const char *problem = NULL;
	struct dns_query query;

	if (length < 1)
		return 0;
	question.type = types[(bytes[0] & 0x7f) % (sizeof(types) / sizeof(*types))];
	FUZZ_HOLDS(dns_query_init(&question, ID, &query));
	copy = malloc(message.length + (message.length == 0));
	FUZZ_HOLDS(copy != NULL);
	memcpy(copy, bytes + 1, message.length);
	message.bytes = copy;
	if ((bytes[0] & 0x80) != 0 && message.length >= query.question) {
		memcpy(copy, query.bytes, 2);
		copy[2] = (uint8_t)((copy[2] & 0x07) | 0x80);
		memcpy(copy + 4, query.bytes + 4, 2);
		memcpy(copy + HEADER, query.bytes + HEADER, query.question - HEADER);
	}
	switch (dns_message_read(&query, &message, &answer, &problem)) {
	case DNS_READ:
		check(&answer);
		dns_answer_clear(&answer);
		break;
	case DNS_BROKEN:
		FUZZ_HOLDS(problem != NULL && answer.text == NULL);
		break;
	default:
		FUZZ_HOLDS(answer.text == NULL);
		break;
	}
	dns_query_finish(&query);
	free(copy);
	return 0;
}
