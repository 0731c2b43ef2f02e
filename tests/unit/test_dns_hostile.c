// SPDX-License-Identifier: MIT
/* DNS messages: answers of others, and hostile ones. */
#include "dns_message_bench.h"

static void only_the_answer_to_the_question_counts(void **state)
{
	static const struct {
		size_t at;
		unsigned char byte;
	} changes[] = {
		{0, 0x13}, /* id */
		{1, 0x35}, {2, 0x01}, /* a question */
		{2, 0x91}, /* another opcode */
		{5, 2}, /* two questions */
		{13, 'v'}, /* of another name */
		{12, 2}, /* whose label is shorter */
		{12, 0xC0}, /* a pointer */
		{23, 2}, /* type */
		{25, 3}, /* class */
	};

	(void)state;
	ask("web.test", DNS_A);
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		begin(0x8180, 0);
		packet.bytes[changes[i].at] = changes[i].byte;
		expect_foreign();
	}
	/* Cut anywhere. */
	begin(0x8180, 0);
	for (size_t length = 0; length < 26; length++) {
		packet.length = length;
		expect_foreign();
	}
	packet.length = 26;
	expect_text(0, "");
}

static void a_refusal_need_not_repeat_the_question(void **state)
{
	struct dns_answer answer = {0};
	const char *problem = NULL;

	(void)state;
	ask("web.test", DNS_A);
	begin(0x8181, 0);
	packet.bytes[5] = 0;
	packet.length = 12;
	assert_int_equal(read_packet(&answer, &problem), DNS_READ);
	assert_int_equal(answer.rcode, 1);
	dns_answer_clear(&answer);
	packet.bytes[3] = 0x80; /* NOERROR */
	expect_foreign();
	packet.bytes[3] = 0x81;
	packet.bytes[7] = 1; /* with an answer to whatever */
	expect_foreign();
}

static void counts_that_lie_are_seen(void **state)
{
	(void)state;
	ask("web.test", DNS_A);
	for (size_t section = 7; section <= 11; section += 2) {
		begin(0x8180, 0);
		packet.bytes[section] = 1;
		expect_broken(CUT);
		packet.bytes[section - 1] = 0xff;
		expect_broken(CUT);
	}
	begin(0x8180, 0);
	put_record(QUESTION, DNS_A, 4);
	put_bytes("\x7f\0\0\x01", 4);
	expect_broken("sent bytes behind the last record");
}

static void records_cut_anywhere_are_seen(void **state)
{
	size_t whole;

	(void)state;
	ask("web.test", DNS_MX);
	begin(0x8180, 1);
	put_record(QUESTION, DNS_MX, 4);
	put_bytes("\0\x0a\xc0\x0c", 4);
	whole = packet.length;
	while (--packet.length >= query.question)
		expect_broken(CUT);
	packet.length = whole;
	expect_text(1, "10 web.test.");
	/* The data ends where the name in it does not. */
	packet.bytes[whole - 5] = 3;
	packet.length = whole - 1;
	expect_broken(BAD_DATA);
}

static void names_that_go_round_are_seen(void **state)
{
	/* Where the owner of the first record stands, and what it points to. */
	const unsigned int here = 26, targets[] = {here, here + 1, 0, 11, 0x3fff, here + 12};

	(void)state;
	ask("web.test", DNS_A);
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
		begin(0x8180, 1);
		put_record(targets[i], DNS_A, 4);
		put_bytes("\x7f\0\0\x01", 4);
		expect_broken(CUT);
	}
	/* A label and then a pointer back to it. */
	begin(0x8180, 1);
	put_bytes("\x01"
		  "a\xc0\x1a\0\x01\0\x01\0\0\0\0\0\x04\x7f\0\0\x01",
		18);
	expect_broken(CUT);
	/* Of the two kinds of label that are not in use. */
	for (unsigned int kind = 0x40; kind <= 0x80; kind += 0x40) {
		begin(0x8180, 1);
		put16(kind << 8);
		put_bytes("\0\x01\0\x01\0\0\0\0\0\x04\x7f\0\0\x01", 14);
		expect_broken(CUT);
	}
}

static void cnames_that_go_round_end(void **state)
{
	(void)state;
	ask("web.test", DNS_A);
	begin(0x8180, 1);
	put_record(QUESTION, DNS_CNAME, 2);
	put16(0xC000 | QUESTION);
	expect_broken("sent more than 16 CNAMEs in a row");
}

/* As many records as fit; their names lean on one another. */
static void a_full_message_is_read(void **state)
{
	struct dns_answer answer = {0};
	const char *problem = NULL;
	unsigned int records = 0, last = QUESTION;

	(void)state;
	ask("web.test", DNS_NS);
	begin(0x8180, 0);
	while (packet.length < 65535 - 16) {
		size_t name = packet.length + 12;

		put_record(QUESTION, DNS_NS, 4);
		put_bytes("\x01"
			  "a",
			2);
		put16(0xC000 | last);
		/* 100 labels, each behind a pointer of its own. */
		last = records < 100 ? (unsigned int)name : last;
		records++;
	}
	packet.bytes[6] = (unsigned char)(records >> 8);
	packet.bytes[7] = (unsigned char)records;
	assert_int_equal(read_packet(&answer, &problem), DNS_READ);
	assert_int_equal(answer.count, records);
	dns_answer_clear(&answer);
}

static void a_name_has_255_bytes_at_most(void **state)
{
	(void)state;
	ask("web.test", DNS_A);
	for (int labels = 122; labels <= 123; labels++) {
		begin(0x8180, 1);
		for (int i = 0; i < labels; i++)
			put_bytes("\x01"
				  "a",
				2);
		put_record(QUESTION, DNS_A, 4); /* "web.test" has 10 bytes */
		put_bytes("\x7f\0\0\x01", 4);
		if (labels == 122)
			expect_text(0, "");
		else
			expect_broken(CUT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_answer_to_the_question_counts),
		cmocka_unit_test(a_refusal_need_not_repeat_the_question),
		cmocka_unit_test(counts_that_lie_are_seen),
		cmocka_unit_test(records_cut_anywhere_are_seen),
		cmocka_unit_test(names_that_go_round_are_seen),
		cmocka_unit_test(cnames_that_go_round_end),
		cmocka_unit_test(a_full_message_is_read),
		cmocka_unit_test(a_name_has_255_bytes_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, end_query);
}
