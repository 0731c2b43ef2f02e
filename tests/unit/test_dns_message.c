// SPDX-License-Identifier: MIT
/* DNS messages: questions as they go out, and sound answers. */
#include "dns_message_bench.h"

static void a_question_has_its_flags_and_limits(void **state)
{
	const struct dns_question plain = {.name = "web.test", .type = DNS_SRV};
	static const unsigned char bytes[] = {0x12, 0x34, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 3, 'w', 'e',
		'b', 4, 't', 'e', 's', 't', 0, 0, 33, 0, 1, 0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0, 0};
	struct dns_query made;

	(void)state;
	assert_true(dns_query_init(&plain, ID, &made));
	assert_int_equal(made.length, sizeof(bytes));
	assert_memory_equal(made.bytes, bytes, sizeof(bytes));
	assert_int_equal(made.question, 26);
	dns_query_finish(&made);
	ask("web.test.", DNS_A);
	assert_int_equal(query.bytes[2], 1); /* RD */
	ask(".", DNS_NS);
	assert_int_equal(query.question, 17);
}

static void what_is_no_name_is_not_asked(void **state)
{
	char longest[300];
	const char *const names[] = {"a..b", ".a", longest};
	struct dns_query made = {0};

	(void)state;
	memset(longest, 0, sizeof(longest));
	for (size_t i = 0; i < 256; i++)
		longest[i] = i % 64 == 63 ? '.' : 'a';
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct dns_question question = {.name = names[i], .type = DNS_A};

		assert_false(dns_query_init(&question, ID, &made));
	}
	longest[253] = '\0'; /* 255 bytes on the wire */
	assert_true(
		dns_query_init(&(struct dns_question){.name = longest, .type = DNS_A}, ID, &made));
	dns_query_finish(&made);
}

static void answers_are_sorted_and_of_the_type(void **state)
{
	(void)state;
	ask("web.test", DNS_A);
	begin(0x8180, 3);
	put_record(QUESTION, DNS_A, 4);
	put_bytes("\xc0\x00\x02\x02", 4);
	put_record(QUESTION, DNS_TXT, 2);
	put_bytes("\x01x", 2);
	put_record(QUESTION, DNS_A, 4);
	put_bytes("\xc0\x00\x02\x01", 4);
	expect_text(2, "192.0.2.1\n192.0.2.2");
	begin(0x8180, 0);
	expect_text(0, "");
}

static void each_type_has_its_text(void **state)
{
	static const struct {
		enum dns_type type;
		const char *data;
		size_t size;
		const char *text; /* NULL: not sound */
	} cases[] = {
		{DNS_A, "\x7f\0\0\x01", 4, "127.0.0.1"},
		{DNS_A, "\x7f\0\0\x01\0", 5, NULL},
		{DNS_A, "", 0, NULL},
		{DNS_AAAA, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01", 16, "2001:db8::1"},
		{DNS_AAAA, "\x7f\0\0\x01", 4, NULL},
		{DNS_CNAME, "\xc0\x0c", 2, "web.test."},
		{DNS_CNAME,
			"\x01"
			"a\xc0\x0c",
			4, "a.web.test."},
		{DNS_NS, "\0", 1, "."},
		{DNS_NS, "\0\0", 2, NULL},
		{DNS_PTR,
			"\x03"
			"a.b\0",
			5, "a\\.b."},
		{DNS_PTR,
			"\x03"
			"ab",
			3, NULL},
		{DNS_MX, "\0\x0a\xc0\x0c", 4, "10 web.test."},
		{DNS_MX, "\0\x0a", 2, NULL},
		{DNS_MX, "\0", 1, NULL},
		{DNS_SRV, "\0\x0a\0\x3c\x1f\x90\xc0\x0c", 8, "10 60 8080 web.test."},
		{DNS_SRV, "\xff\xff\xff\xff\xff\xff\0", 7, "65535 65535 65535 ."},
		{DNS_SRV, "\0\x0a\0\x3c\x1f\x90", 6, NULL},
		{DNS_TXT, "\0", 1, "\"\""},
		{DNS_TXT,
			"\x02"
			"a\"\x02\\\x07",
			6, "\"a\\\"\" \"\\\\\\007\""},
		{DNS_TXT,
			"\x03"
			"\xc3\xbc\x7f",
			4, "\"\xc3\xbc\\127\""},
		{DNS_TXT,
			"\x05"
			"a",
			2, NULL},
		{DNS_TXT, "", 0, NULL},
		{DNS_SOA,
			"\xc0\x0c\xc0\x0c\0\0\0\x01\0\0\0\x02\0\0\0\x03\0\0\0\x04\xff\xff\xff\xff",
			24, "web.test. web.test. 1 2 3 4 4294967295"},
		{DNS_SOA, "\xc0\x0c\xc0\x0c\0\0\0\x01\0\0\0\x02\0\0\0\x03\0\0\0\x04\0\0\0", 23,
			NULL},
		{DNS_SOA, "\xc0\x0c\xc0\xff", 4, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ask("web.test", cases[i].type);
		begin(0x8180, 1);
		put_record(QUESTION, cases[i].type, (unsigned int)cases[i].size);
		put_bytes(cases[i].data, cases[i].size);
		if (cases[i].text != NULL)
			expect_text(1, cases[i].text);
		else
			expect_broken(BAD_DATA);
	}
}

static void cnames_are_followed_from_the_name(void **state)
{
	size_t second;

	(void)state;
	ask("web.test", DNS_A);
	begin(0x8180, 4);
	/* Of a name that nobody asked for. */
	put_name("other.test");
	put_bytes("\0\x01\0\x01\0\0\0\0\0\x04\x7f\0\0\x01", 14);
	put_record(QUESTION, DNS_CNAME, 6);
	second = packet.length;
	put_name("Pool");
	put_record((unsigned int)second, DNS_A, 4);
	put_bytes("\xc0\0\x02\x09", 4);
	put_record(QUESTION, DNS_A, 4); /* beside a CNAME: not the end of the chain */
	put_bytes("\x7f\0\0\x02", 4);
	expect_text(1, "192.0.2.9");
	/* A length that lies about the name in it. */
	packet.bytes[second - 1] = 5;
	expect_broken(CUT);
	ask("web.test", DNS_CNAME);
	begin(0x8180, 1);
	put_record(QUESTION, DNS_CNAME, 6);
	put_name("Pool");
	expect_text(1, "Pool.");
}

static void the_case_of_the_name_does_not_matter(void **state)
{
	(void)state;
	ask("web.test", DNS_A);
	begin(0x8180, 1);
	packet.bytes[QUESTION + 1] = 'W';
	put_record(QUESTION, DNS_A, 4);
	put_bytes("\x7f\0\0\x01", 4);
	expect_text(1, "127.0.0.1");
	/* What differs by the same bit and is no letter does matter. */
	ask("a@.test", DNS_A);
	begin(0x8180, 0);
	packet.bytes[QUESTION + 2] = '`';
	expect_foreign();
}

static void codes_and_flags_are_read(void **state)
{
	struct dns_answer answer = {0};
	const char *problem = NULL;

	(void)state;
	ask("web.test", DNS_A);
	begin(0x8503, 0); /* AA, RD, NXDOMAIN */
	assert_int_equal(read_packet(&answer, &problem), DNS_READ);
	assert_int_equal(answer.rcode, 3);
	assert_true(answer.authoritative);
	assert_false(answer.truncated);
	dns_answer_clear(&answer);
	/* The upper bits of the code stand in the OPT record: BADVERS is 16. */
	begin(0x8180, 0);
	packet.bytes[11] = 1;
	put_bytes("\0\0\x29\x04\xd0\x01\0\0\0\0\0", 11);
	assert_int_equal(read_packet(&answer, &problem), DNS_READ);
	assert_int_equal(answer.rcode, 16);
	dns_answer_clear(&answer);
	/* Truncated: whatever is left of it counts for nothing. */
	begin(0x8380, 7);
	put_bytes("\xc0", 1);
	assert_int_equal(read_packet(&answer, &problem), DNS_READ);
	assert_true(answer.truncated);
	assert_null(answer.text);
}

static void addresses_are_turned_round(void **state)
{
	char *v4 = dns_name_reverse("192.0.2.1"), *v6 = dns_name_reverse("2001:db8::abcd");

	(void)state;
	assert_string_equal(v4, "1.2.0.192.in-addr.arpa");
	assert_string_equal(
		v6, "d.c.b.a.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa");
	free(v4);
	free(v6);
	assert_null(dns_name_reverse("web.test"));
	assert_null(dns_name_reverse("192.0.2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_has_its_flags_and_limits),
		cmocka_unit_test(what_is_no_name_is_not_asked),
		cmocka_unit_test(answers_are_sorted_and_of_the_type),
		cmocka_unit_test(each_type_has_its_text),
		cmocka_unit_test(cnames_are_followed_from_the_name),
		cmocka_unit_test(the_case_of_the_name_does_not_matter),
		cmocka_unit_test(codes_and_flags_are_read),
		cmocka_unit_test(addresses_are_turned_round),
	};

	return cmocka_run_group_tests(tests, NULL, end_query);
}
