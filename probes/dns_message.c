// SPDX-License-Identifier: MIT
/* DNS messages: the question is c-ares's work, the answer is walked here, byte by byte. */
#include "probes/dns_message.h"

#include <ares.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/dns_rcode.h"

#define HEADER 12 /* bytes: RFC 1035, section 4.1.1 */

/* Offsets in the header. */
enum {
	AT_FLAGS = 2,
	AT_QUESTIONS = 4,
	AT_ANSWERS = 6,
	AT_AUTHORITIES = 8,
	AT_ADDITIONALS = 10,
};

#define FLAG_RESPONSE 0x8000U
#define FLAG_OPCODE 0x7800U
#define FLAG_AUTHORITATIVE 0x0400U
#define FLAG_TRUNCATED 0x0200U
#define MASK_RCODE 0x000fU

/* What is wanted of the answer section. */
struct wanted {
	struct dns_name name; /* where the CNAMEs have led so far */
	unsigned int type;
	size_t from; /* of the section */
	unsigned int records;
};

bool dns_query_init(const struct dns_question *question, uint16_t id, struct dns_query *ret_query)
{
	struct dns_bytes made;
	struct dns_name name;
	unsigned char *bytes = NULL;
	int length = 0;

	if (ares_create_query(question->name, DNS_IN, (int)question->type, id, question->recursion,
		    &bytes, &length, DNS_UDP_MOST) != ARES_SUCCESS)
		return false;
	made = (struct dns_bytes){.bytes = bytes, .length = (size_t)length};
	/* It takes names longer than there can be. */
	ret_query->question = dns_name_read(&made, HEADER, &name);
	if (ret_query->question == 0) {
		ares_free_string(bytes);
		return false;
	}
	ret_query->question += 4; /* type and class */
	ret_query->bytes = bytes;
	ret_query->length = (size_t)length;
	return true;
}

void dns_query_finish(struct dns_query *query)
{
	ares_free_string(query->bytes);
	*query = (struct dns_query){0};
}

/* Whether the same is asked: id, and one question of the same name, type and class. */
static bool is_answer_to(const struct dns_query *query, const struct dns_bytes *message)
{
	const struct dns_bytes asked = {query->bytes, query->question};
	struct dns_name name, other;
	size_t end;

	if (message->length < HEADER || memcmp(message->bytes, query->bytes, 2) != 0 ||
		(dns_get16(message, AT_FLAGS) & (FLAG_RESPONSE | FLAG_OPCODE)) != FLAG_RESPONSE)
		return false;
	/* What cannot be understood is refused without being repeated. */
	if (dns_get16(message, AT_QUESTIONS) == 0)
		return (dns_get16(message, AT_FLAGS) & MASK_RCODE) != DNS_NOERROR &&
			dns_get16(message, AT_ANSWERS) == 0;
	end = dns_name_read(message, HEADER, &other);
	return dns_get16(message, AT_QUESTIONS) == 1 && end > 0 && message->length - end >= 4 &&
		dns_name_read(&asked, HEADER, &name) > 0 && dns_name_equal(&name, &other) &&
		memcmp(message->bytes + end, query->bytes + query->question - 4, 4) == 0;
}

/* All three sections are there, no more and no less; an OPT record adds to the code. */
static const char *check_records(
	const struct dns_bytes *message, size_t at, struct dns_answer *answer)
{
	unsigned int first = dns_get16(message, AT_ANSWERS) + dns_get16(message, AT_AUTHORITIES);
	unsigned int count = first + dns_get16(message, AT_ADDITIONALS);
	struct dns_record record;

	for (unsigned int i = 0; i < count; i++) {
		at = dns_record_read(message, at, &record);
		if (at == 0)
			return "sent a record that is cut, or whose name leads nowhere";
		if (i >= first && record.type == DNS_OPT)
			answer->rcode |= record.ttl >> 24 << 4;
	}
	return at == message->length ? NULL : "sent bytes behind the last record";
}

/* Follows one CNAME; 1 if there was one, 0 if not, -1 if it is not sound. */
static int follow(const struct dns_bytes *message, struct wanted *wanted)
{
	size_t at = wanted->from;
	struct dns_record record;

	for (unsigned int i = 0; i < wanted->records; i++) {
		at = dns_record_read(message, at, &record);
		if (record.type != DNS_CNAME || record.class != DNS_IN ||
			!dns_name_equal(&record.owner, &wanted->name))
			continue;
		return dns_name_read(message, record.data, &wanted->name) ==
				record.data + record.size
			? 1
			: -1;
	}
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines in one text, sorted; they are freed. */
static char *join(char **lines, size_t count)
{
	size_t length = 0;
	char *text, *to;

	qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count; i++)
		length += strlen(lines[i]) + 1;
	text = to = xcalloc(length + 1, 1);
	for (size_t i = 0; i < count; i++) {
		to = stpcpy(to, i == 0 ? "" : "\n");
		to = stpcpy(to, lines[i]);
		free(lines[i]);
	}
	return text;
}

/* The records that are wanted; false where the data of one is not sound. */
static bool collect(
	const struct dns_bytes *message, const struct wanted *wanted, struct dns_answer *answer)
{
	char **lines = xcalloc(wanted->records + 1, sizeof(*lines));
	size_t at = wanted->from;
	struct dns_record record;
	bool fine = true;

	for (unsigned int i = 0; i < wanted->records && fine; i++) {
		at = dns_record_read(message, at, &record);
		if (record.type != wanted->type || record.class != DNS_IN ||
			!dns_name_equal(&record.owner, &wanted->name))
			continue;
		lines[answer->count] = dns_record_text(message, &record);
		fine = lines[answer->count] != NULL;
		answer->count += fine;
	}
	answer->text = join(lines, answer->count);
	free(lines);
	return fine;
}

static const char *read_answers(
	const struct dns_bytes *message, struct wanted *wanted, struct dns_answer *answer)
{
	int followed = wanted->type == DNS_CNAME ? 0 : follow(message, wanted);

	for (unsigned int i = 1; followed == 1; i++) {
		if (i > DNS_MOST_CNAMES)
			return "sent more than 16 CNAMEs in a row";
		followed = follow(message, wanted);
	}
	if (followed < 0 || !collect(message, wanted, answer))
		return "sent a record whose data is not of its type";
	return NULL;
}

enum dns_reading dns_message_read(const struct dns_query *query, const struct dns_bytes *message,
	struct dns_answer *ret_answer, const char **ret_problem)
{
	const struct dns_bytes asked = {query->bytes, query->question};
	struct dns_answer answer = {0};
	struct wanted wanted = {.type = dns_get16(&asked, query->question - 4)};
	unsigned int flags;

	if (!is_answer_to(query, message))
		return DNS_FOREIGN;
	flags = dns_get16(message, AT_FLAGS);
	answer.rcode = flags & MASK_RCODE;
	answer.authoritative = (flags & FLAG_AUTHORITATIVE) != 0;
	answer.truncated = (flags & FLAG_TRUNCATED) != 0;
	if (!answer.truncated) {
		(void)dns_name_read(&asked, HEADER, &wanted.name);
		/* One question is as long as ours: a name in it has nothing to point to. */
		wanted.from = dns_get16(message, AT_QUESTIONS) == 0 ? HEADER : query->question;
		wanted.records = dns_get16(message, AT_ANSWERS);
		*ret_problem = check_records(message, wanted.from, &answer);
		if (*ret_problem == NULL)
			*ret_problem = read_answers(message, &wanted, &answer);
		if (*ret_problem != NULL) {
			dns_answer_clear(&answer);
			return DNS_BROKEN;
		}
	}
	*ret_answer = answer;
	return DNS_READ;
}

void dns_answer_clear(struct dns_answer *answer)
{
	free(answer->text);
	*answer = (struct dns_answer){0};
}
