// SPDX-License-Identifier: MIT
/* What an answer means to a step, piece by piece: what is used up, rejected, waited for. */
#include "tests/unit/match_bench.h"

#include "probes/tcp_step.h"

struct heard {
	enum tcp_heard result;
	size_t taken;
};

static struct heard hear(const struct tcp_step *step, const char *text, bool unfinished)
{
	const struct match_subject subject = {text, strlen(text), unfinished};
	struct heard heard = {.taken = 0};
	const char *error = NULL;

	heard.result = tcp_step_hear(step, &subject, &heard.taken, &error);
	assert_int_equal(heard.result == TCP_HEARD_ERROR, error != NULL);
	return heard;
}

static void expect(struct heard heard, enum tcp_heard result, size_t taken)
{
	assert_int_equal(heard.result, result);
	if (result == TCP_HEARD_IT)
		assert_int_equal(heard.taken, taken);
}

static void a_line_is_used_up_whole(void **state)
{
	const struct tcp_step step = {.kind = TCP_EXPECT, .expect = compile("^220 ")};

	(void)state;
	expect(hear(&step, "22", true), TCP_HEARD_LITTLE, 0);
	expect(hear(&step, "220 mx", true), TCP_HEARD_LITTLE, 0);
	expect(hear(&step, "220 mx\r\n", true), TCP_HEARD_IT, 8);
	expect(hear(&step, "220 mx\r\n250 ok\r\n", true), TCP_HEARD_IT, 8);
	expect(hear(&step, "hello\n220 mx\n250", true), TCP_HEARD_IT, 13);
	/* Nothing follows: what is there is all. */
	expect(hear(&step, "220 mx", false), TCP_HEARD_IT, 6);
	expect(hear(&step, "554 no\r\n", false), TCP_HEARD_LITTLE, 0);
	expect(hear(&step, "", true), TCP_HEARD_LITTLE, 0);
}

static void the_last_step_waits_for_no_line(void **state)
{
	const struct tcp_step step = {
		.kind = TCP_EXPECT, .expect = compile("^220 .*ESMTP"), .last = true};
	const struct tcp_step whole = {
		.kind = TCP_EXPECT, .expect = compile("^PONG$"), .last = true};

	(void)state;
	expect(hear(&step, "220 mx ESM", true), TCP_HEARD_LITTLE, 0);
	expect(hear(&step, "220 mx ESMTP", true), TCP_HEARD_IT, 12);
	/* More may come behind it: PONGO. */
	expect(hear(&whole, "PONG", true), TCP_HEARD_LITTLE, 0);
	expect(hear(&whole, "PONG", false), TCP_HEARD_IT, 4);
	expect(hear(&whole, "PONG\n", true), TCP_HEARD_IT, 4);
}

static void only_what_comes_before_is_rejected(void **state)
{
	const struct tcp_step step = {
		.kind = TCP_EXPECT, .expect = compile("^250 "), .reject = compile("^5")};

	(void)state;
	expect(hear(&step, "500 what\r\n", true), TCP_HEARD_REJECT, 0);
	expect(hear(&step, "500 what\r\n250 ok\r\n", true), TCP_HEARD_REJECT, 0);
	expect(hear(&step, "250 ok\r\n500 what\r\n", true), TCP_HEARD_IT, 8);
}

static void bytes_are_used_up_to_their_end(void **state)
{
	static const char wanted[] = {0x32, 0x32};
	const struct tcp_step step = {.kind = TCP_EXPECT, .expect_hex = {wanted, 2, "32 32"}};

	(void)state;
	expect(hear(&step, "x2", true), TCP_HEARD_LITTLE, 0);
	expect(hear(&step, "x22y", true), TCP_HEARD_IT, 3);
}

static void an_engine_that_fails_is_an_error_either_way(void **state)
{
	const struct tcp_step expecting = {.kind = TCP_EXPECT, .expect = compile("(x+x+)+[yz]")};
	const struct tcp_step rejecting = {.kind = TCP_EXPECT,
		.expect = compile("^x"),
		.reject = compile("(x+x+)+[yz]"),
		.last = true};
	char *text = repeat("x", 4097);

	(void)state;
	text[4096] = '\0';
	expect(hear(&expecting, text, true), TCP_HEARD_ERROR, 0);
	free(text);
	engine_says = PCRE2_ERROR_MATCHLIMIT;
	expect(hear(&rejecting, "xyz", true), TCP_HEARD_ERROR, 0);
	engine_says = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_used_up_whole),
		cmocka_unit_test(the_last_step_waits_for_no_line),
		cmocka_unit_test(only_what_comes_before_is_rejected),
		cmocka_unit_test(bytes_are_used_up_to_their_end),
		cmocka_unit_test(an_engine_that_fails_is_an_error_either_way),
	};

	return cmocka_run_group_tests(tests, make_arena, destroy_arena);
}
