// SPDX-License-Identifier: MIT
/* Whose a check or a service is, and what is done with one that is not ours. */
#include "tests/unit/agent_bench.h"

#include <string.h>

static void another_type_is_deregistered_before_ours_takes_its_place(void **unused)
{
	(void)unused;
	checks[0].take_over = true;
	know_service();
	know_check("a", "web-1", "theirs", "http");
	agent = agent_create(loop, &settings);
	expect("checks; get web-1; "); /* nothing to put in its place yet */
	publish("a", PROBE_WARNING, "slow");
	expect("deregister a; register a=warning; update a=warning:slow; ");
	assert_int_equal(count_lines("is not ours (type http); it is taken over"), 1);
	run_for(1.2);
	assert_int_equal(count_lines("taken over"), 1);
	assert_null(strstr(journal, "deregister"));
}

static void another_owner_is_replaced_in_place(void **unused)
{
	(void)unused;
	checks[0].take_over = true;
	know_service();
	know_check("a", "web-1", "[probity:elsewhere]", "ttl");
	agent = agent_create(loop, &settings);
	publish("a", PROBE_CRITICAL, "down");
	expect("checks; get web-1; register a=critical; update a=critical:down; ");
	assert_int_equal(count_lines("is not ours (type ttl); it is taken over"), 1);
	assert_string_equal(text(json_object_get(fake.checks, "a"), "Notes"), MARK);
}

static void a_takeover_that_is_refused_is_tried_again(void **unused)
{
	struct agent_check_view view;

	(void)unused;
	checks[0].take_over = true;
	know_service();
	know_check("a", "web-1", "theirs", "http");
	agent = agent_create(loop, &settings);
	fake.code = 403;
	publish("a", PROBE_PASSING, "fine");
	expect("checks; get web-1; deregister a; ");
	agent_check_view(agent_find(agent, "a"), &view);
	assert_string_equal(view.problem, "403 Permission denied");
	fake.code = 0;
	run_for(1.1);
	assert_string_equal(journal, "deregister a; register a=passing; update a=passing:fine; ");
}

/* The inventory lists it under its old service while ours is registered with its checks. */
static void what_is_to_be_taken_over_does_not_come_with_its_service(void **unused)
{
	(void)unused;
	services[0].registration = &registration;
	checks[0].take_over = true;
	know_check("a", "", "theirs", "http");
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	publish("b", PROBE_PASSING, "good");
	expect("checks; get web-1; service web-1; with b=passing; deregister a; "
	       "update b=passing:good; register a=passing; update a=passing:fine; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(another_type_is_deregistered_before_ours_takes_its_place),
		TEST(another_owner_is_replaced_in_place),
		TEST(a_takeover_that_is_refused_is_tried_again),
		TEST(what_is_to_be_taken_over_does_not_come_with_its_service),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
