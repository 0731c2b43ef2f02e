// SPDX-License-Identifier: MIT
/* What an answer means: codes, authority, numbers of records, patterns. */
#include "tests/unit/match_bench.h"

#include "probes/dns_judge.h"

static void expect(
	struct dns_conf *conf, struct dns_answer answer, enum probe_status status, const char *text)
{
	struct dns_verdict verdict;

	conf->type_name = "A";
	answer.text = answer.text == NULL ? (char *)"" : answer.text;
	dns_judge(conf, &answer, &verdict);
	assert_string_equal(verdict.text, text);
	assert_int_equal(verdict.status, status);
	assert_int_equal(verdict.reason == REASON_NONE, status == PROBE_PASSING);
	free(verdict.text);
}

#define TWO .count = 2, .text = (char *)"192.0.2.1\n192.0.2.2"
#define NOERROR_ONLY                                                                               \
	{                                                                                          \
		.bits = 1U << DNS_NOERROR                                                          \
	}

static void the_code_must_be_wanted(void **state)
{
	struct dns_conf conf = {.rcode = NOERROR_ONLY, .wanted = 1};
	struct dns_conf missing = {.rcode = {.bits = 1U << DNS_NXDOMAIN}, .wanted = 1};

	(void)state;
	expect(&conf, (struct dns_answer){TWO}, PROBE_PASSING, "2 answers");
	expect(&conf, (struct dns_answer){.rcode = DNS_NXDOMAIN}, PROBE_CRITICAL, "NXDOMAIN");
	/* Records beside an error are none. */
	expect(&conf, (struct dns_answer){.rcode = DNS_SERVFAIL, TWO}, PROBE_CRITICAL, "SERVFAIL");
	expect(&conf, (struct dns_answer){.rcode = 2049}, PROBE_CRITICAL, "RCODE2049");
	expect(&conf, (struct dns_answer){.rcode = 32}, PROBE_CRITICAL, "RCODE32");
	expect(&missing, (struct dns_answer){.rcode = DNS_NXDOMAIN}, PROBE_PASSING, "NXDOMAIN");
	expect(&missing, (struct dns_answer){TWO}, PROBE_CRITICAL, "NOERROR");
}

static void a_server_that_fails_gives_way_to_the_next(void **state)
{
	static const struct {
		unsigned int rcode;
		bool next;
	} cases[] = {{DNS_SERVFAIL, true}, {DNS_REFUSED, true}, {DNS_NOTIMP, true},
		{DNS_NXDOMAIN, false}, {DNS_NOERROR, false}, {DNS_FORMERR, false}};
	const struct dns_conf conf = {.rcode = {.bits = 1U << 8}, .type_name = "A"};
	const struct dns_conf refused = {.rcode = {.bits = 1U << DNS_REFUSED}, .type_name = "A"};
	struct dns_verdict verdict;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct dns_answer answer = {.rcode = cases[i].rcode, .text = (char *)""};

		dns_judge(&conf, &answer, &verdict);
		assert_int_equal(verdict.next, cases[i].next);
		free(verdict.text);
	}
	dns_judge(
		&refused, &(struct dns_answer){.rcode = DNS_REFUSED, .text = (char *)""}, &verdict);
	assert_false(verdict.next);
	free(verdict.text);
}

static void there_must_be_enough(void **state)
{
	struct dns_conf one = {.rcode = NOERROR_ONLY, .wanted = 1};
	struct dns_conf three = {.rcode = NOERROR_ONLY, .wanted = 3};
	struct dns_conf none = {.rcode = NOERROR_ONLY};

	(void)state;
	expect(&one, (struct dns_answer){.count = 0}, PROBE_CRITICAL, "no record of type A");
	expect(&one, (struct dns_answer){.count = 1}, PROBE_PASSING, "1 answer");
	expect(&three, (struct dns_answer){TWO}, PROBE_CRITICAL, "2 answers where 3 are wanted");
	expect(&three, (struct dns_answer){.count = 0}, PROBE_CRITICAL,
		"no record of type A where 3 are wanted");
	expect(&none, (struct dns_answer){.count = 0}, PROBE_PASSING, "no record of type A");
}

static void authority_may_be_asked_for(void **state)
{
	struct dns_conf conf = {.rcode = NOERROR_ONLY, .wanted = 1, .authoritative = true};

	(void)state;
	expect(&conf, (struct dns_answer){TWO}, PROBE_CRITICAL, "an answer without authority");
	expect(&conf, (struct dns_answer){TWO, .authoritative = true}, PROBE_PASSING, "2 answers");
}

static void patterns_see_each_answer(void **state)
{
	struct dns_conf conf = {.rcode = NOERROR_ONLY, .wanted = 1};

	(void)state;
	conf.expect = compile("^192\\.0\\.2\\.2$");
	expect(&conf, (struct dns_answer){TWO}, PROBE_PASSING, "2 answers");
	conf.expect = compile("^10\\.");
	expect(&conf, (struct dns_answer){TWO}, PROBE_CRITICAL, "'expect' not found in 2 answers");
	conf.expect = NULL;
	conf.reject = compile("2\\.1$");
	expect(&conf, (struct dns_answer){TWO}, PROBE_CRITICAL,
		"what 'reject' forbids, 192.0.2.1,");
	conf.reject = compile("2\\.2");
	expect(&conf, (struct dns_answer){TWO}, PROBE_CRITICAL,
		"what 'reject' forbids, 192.0.2.2,");
	conf.reject = compile("^10\\.");
	expect(&conf, (struct dns_answer){TWO}, PROBE_PASSING, "2 answers");
	/* One by one: what begins in an answer does not go on in the next. */
	conf.reject = compile("2\\.1[^x]*2\\.2");
	expect(&conf, (struct dns_answer){TWO}, PROBE_PASSING, "2 answers");
	conf.expect = conf.reject;
	expect(&conf, (struct dns_answer){TWO}, PROBE_CRITICAL, "'expect' not found in 2 answers");
}

static void without_answers_nothing_matches(void **state)
{
	struct dns_conf conf = {.rcode = NOERROR_ONLY};

	(void)state;
	conf.expect = compile(".*");
	expect(&conf, (struct dns_answer){.count = 0}, PROBE_CRITICAL,
		"'expect' not found in no record of type A");
	conf.expect = NULL;
	conf.reject = compile(".*");
	expect(&conf, (struct dns_answer){.count = 0}, PROBE_PASSING, "no record of type A");
}

static void an_engine_that_fails_is_critical(void **state)
{
	struct dns_conf conf = {.rcode = NOERROR_ONLY, .wanted = 1};

	(void)state;
	conf.reject = compile("x");
	engine_says = PCRE2_ERROR_MATCHLIMIT;
	expect(&conf, (struct dns_answer){TWO}, PROBE_CRITICAL,
		"'reject': the pattern takes too much effort on this text");
	engine_says = 0;
}

/* Lines enough that each is quick and all are not. */
static void the_effort_for_all_answers_is_bounded(void **state)
{
	struct dns_conf conf = {.rcode = NOERROR_ONLY, .wanted = 1};
	const size_t lines = 5000, length = 17;
	char *text = repeat("x", lines * length);

	(void)state;
	for (size_t i = length - 1; i < lines * length; i += length)
		text[i] = '\n';
	text[lines * length - 1] = '\0';
	conf.expect = compile("^(x+x+)+[yz]");
	expect(&conf, (struct dns_answer){.count = lines, .text = text}, PROBE_CRITICAL,
		"'expect': the pattern takes too much effort on this text");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_code_must_be_wanted),
		cmocka_unit_test(a_server_that_fails_gives_way_to_the_next),
		cmocka_unit_test(there_must_be_enough),
		cmocka_unit_test(authority_may_be_asked_for),
		cmocka_unit_test(patterns_see_each_answer),
		cmocka_unit_test(without_answers_nothing_matches),
		cmocka_unit_test(an_engine_that_fails_is_critical),
		cmocka_unit_test(the_effort_for_all_answers_is_bounded),
	};

	return cmocka_run_group_tests(tests, make_arena, destroy_arena);
}
