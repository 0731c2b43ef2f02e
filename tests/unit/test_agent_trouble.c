// SPDX-License-Identifier: MIT
/* An agent that forgets, fails, refuses or goes: what is called and what is said. */
#include "tests/unit/agent_bench.h"

#include <string.h>

#include "probes/clock.h"

static void lost_state_is_restored_with_the_current_status(void **unused)
{
	(void)unused;
	services[0].registration = &registration;
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	publish("b", PROBE_PASSING, "good");
	run_for(0.2);
	(void)json_object_clear(fake.checks);
	(void)json_object_clear(fake.services);
	journal[0] = '\0';
	publish("a", PROBE_CRITICAL, "down");
	run_for(0.2);
	assert_non_null(strstr(journal, "update a=critical:down; look a; "));
	assert_non_null(strstr(journal,
		"get web-1; service web-1; with a=critical; with b=passing; "
		"update a=critical:down; update b=passing:good; "));
	assert_null(strstr(journal, "register a"));
	assert_int_equal(count_lines("does not have this check"), 1);
	run_for(0.9); /* until heartbeats and the inventory have gone */
	assert_int_equal(count_lines("has all checks again"), 1);
	assert_string_equal(text(json_object_get(fake.checks, "a"), "Status"), "critical");
}

static void know_all(void)
{
	know_service();
	know_check("a", "web-1", MARK, "ttl");
	know_check("b", "web-1", MARK, "ttl");
}

static void others_that_are_lost_are_found_at_once(void **unused)
{
	(void)unused;
	checks[1].ttl = 600; /* its own heartbeat would be minutes away */
	know_all();
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	publish("b", PROBE_PASSING, "good");
	run_for(0.2);
	(void)json_object_clear(fake.checks);
	publish("a", PROBE_CRITICAL, "down");
	run_for(1.2);
	assert_string_equal(text(json_object_get(fake.checks, "a"), "Status"), "critical");
	assert_string_equal(text(json_object_get(fake.checks, "b"), "Status"), "passing");
	assert_int_equal(count_lines("does not have this check"), 1);
	assert_int_equal(count_lines("has all checks again"), 1);
}

static void what_was_lost_while_the_agent_was_away_is_found_at_once(void **unused)
{
	(void)unused;
	checks[1].ttl = 600;
	know_all();
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	publish("b", PROBE_PASSING, "good");
	run_for(0.2);
	fake.away = true;
	publish("a", PROBE_WARNING, "slow");
	run_for(0.2);
	(void)json_object_del(fake.checks, "b");
	fake.away = false;
	run_for(1.3);
	assert_string_equal(text(json_object_get(fake.checks, "a"), "Status"), "warning");
	assert_string_equal(text(json_object_get(fake.checks, "b"), "Status"), "passing");
}

static void a_restarted_agent_is_asked_for_its_list_once(void **unused)
{
	(void)unused;
	know_all();
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	publish("b", PROBE_PASSING, "good");
	run_for(0.2);
	fake.away = true;
	publish("a", PROBE_WARNING, "slow");
	run_for(0.2);
	(void)json_object_clear(fake.checks);
	fake.away = false;
	journal[0] = '\0';
	run_for(1.2);
	assert_non_null(strstr(journal, "look a; "));
	assert_non_null(strstr(journal, "checks; "));
	assert_null(strstr(strstr(journal, "checks; ") + 1, "checks; "));
	assert_int_equal(count_lines("has all checks again"), 1);
}

static void a_refusal_from_before_the_registration_is_no_failure(void **unused)
{
	(void)unused;
	services[0].registration = &registration;
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	publish("b", PROBE_PASSING, "good");
	run_for(0.2);
	(void)json_object_clear(fake.checks);
	(void)json_object_clear(fake.services);
	fake.slow = "b";
	publish("b", PROBE_WARNING, "hm"); /* 500, but told after "a" had all registered again */
	publish("a", PROBE_CRITICAL, "down");
	run_for(0.2);
	assert_non_null(json_object_get(fake.checks, "b"));
	fake.slow = NULL;
	run_for(0.4);
	assert_int_equal(count_lines("cannot be used"), 0);
	assert_string_equal(text(json_object_get(fake.checks, "b"), "Status"), "warning");
}

static void an_old_list_does_not_lose_a_new_check(void **unused)
{
	(void)unused;
	settings.check_count = 3;
	know_all();
	agent = agent_create(loop, &settings);
	run_for(1.1);
	fake.slow_list = true;
	agent_reload(agent, &settings);
	run_for(0.05);
	publish("n", PROBE_PASSING, "fine");
	run_for(0.5);
	assert_string_equal(text(json_object_get(fake.checks, "n"), "Status"), "passing");
	assert_int_equal(count_lines("does not have this check"), 0);
}

static void a_service_that_went_unseen_is_waited_for(void **unused)
{
	(void)unused;
	know_service();
	know_check("foreign", "web-1", "", "http");
	agent = agent_create(loop, &settings);
	run_for(0.1);
	(void)json_object_clear(fake.services);
	journal[0] = '\0';
	publish("a", PROBE_PASSING, "fine");
	expect("register a=passing; get web-1; ");
	assert_int_equal(count_lines("unknown service web-1: waiting"), 1);
	assert_int_equal(count_lines("cannot be used"), 0);
	know_service();
	run_for(1.3);
	assert_string_equal(text(json_object_get(fake.checks, "a"), "Status"), "passing");
}

static void a_new_token_is_told_by_registering_again(void **unused)
{
	(void)unused;
	know_all();
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	run_for(0.1);
	fake.token_waits = true;
	journal[0] = '\0';
	publish("a", PROBE_WARNING, "slow");
	expect("register a=warning; update a=warning:slow; ");
}

static void a_server_error_closes_the_gate_and_says_so_once(void **unused)
{
	struct agent_view view;

	(void)unused;
	know_service();
	know_check("a", "web-1", MARK, "ttl");
	know_check("b", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	publish("b", PROBE_PASSING, "good");
	run_for(0.2);
	fake.code = 500;
	journal[0] = '\0';
	publish("a", PROBE_CRITICAL, "down");
	expect("update a=critical:down; look a; ");
	agent_view(agent, &view);
	assert_false(view.reachable);
	publish("b", PROBE_CRITICAL, "down too");
	run_for(1.2);
	assert_int_equal(count_lines("cannot be used: 500 no such check"), 1);
	fake.code = 0;
	run_for(1.2);
	assert_int_equal(count_lines("answers again"), 1);
	assert_string_equal(text(json_object_get(fake.checks, "a"), "Status"), "critical");
	assert_string_equal(text(json_object_get(fake.checks, "b"), "Status"), "critical");
}

static void unreachable_agent_gets_the_newest_when_it_comes(void **unused)
{
	(void)unused;
	know_service();
	fake.away = true;
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "one");
	expect("checks; ");
	publish("a", PROBE_CRITICAL, "two");
	run_for(1.2);
	publish("a", PROBE_PASSING, "three");
	assert_int_equal(count_lines("cannot be used: Connection refused"), 1);
	fake.away = false;
	journal[0] = '\0';
	run_for(1.2);
	assert_non_null(strstr(journal,
		"checks; get web-1; register a=passing; "
		"register b=critical; update a=passing:three; "));
	assert_null(strstr(journal, "one"));
	assert_null(strstr(journal, "two"));
}

static void refused_checks_back_off_until_the_token_changes(void **unused)
{
	(void)unused;
	know_service();
	know_check("a", "web-1", MARK, "ttl");
	know_check("b", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	run_for(0.1);
	fake.code = 403;
	journal[0] = '\0';
	publish("a", PROBE_CRITICAL, "down");
	publish("b", PROBE_CRITICAL, "down");
	expect("register a=critical; register b=critical; ");
	run_for(1);
	assert_string_equal(journal, "register a=critical; register b=critical; ");
	assert_int_equal(count_lines("the agent refuses: 403 Permission denied"), 1);
	fake.code = 0;
	fake.token_waits = true;
	journal[0] = '\0';
	run_for(1); /* the next try would be 2 s after the last */
	assert_string_equal(text(json_object_get(fake.checks, "a"), "Status"), "critical");
	assert_string_equal(text(json_object_get(fake.checks, "b"), "Status"), "critical");
	assert_int_equal(count_lines("refuses no check any more"), 1);
}

static void foreign_check_under_our_id_is_left_alone(void **unused)
{
	struct agent_check_view view;

	(void)unused;
	know_service();
	know_check("a", "web-1", MARK, "http");
	know_check("b", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	expect("checks; get web-1; ");
	assert_int_equal(count_lines("is not ours (type http)"), 1);
	agent_check_view(agent_find(agent, "a"), &view);
	assert_false(view.registered);
	assert_non_null(strstr(view.problem, "not ours"));
}

/* 5 s for a call, and one of grace. */
static void a_call_past_its_timeout_starves_the_watchdog(void **unused)
{
	static const struct {
		double age;
		bool fed;
	} cases[] = {{0, true}, {4, true}, {5.5, true}, {6.5, false}, {60, false}};

	(void)unused;
	agent = agent_create(loop, &settings);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct watchdog watchdog = {.now = 1000};

		fake.oldest = cases[i].age > 0 ? 1000 - cases[i].age : 0;
		agent_watch(agent, &watchdog);
		assert_int_equal(watchdog_is_fed(&watchdog), cases[i].fed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lost_state_is_restored_with_the_current_status),
		TEST(others_that_are_lost_are_found_at_once),
		TEST(what_was_lost_while_the_agent_was_away_is_found_at_once),
		TEST(a_restarted_agent_is_asked_for_its_list_once),
		TEST(a_refusal_from_before_the_registration_is_no_failure),
		TEST(an_old_list_does_not_lose_a_new_check),
		TEST(a_service_that_went_unseen_is_waited_for),
		TEST(a_new_token_is_told_by_registering_again),
		TEST(a_server_error_closes_the_gate_and_says_so_once),
		TEST(unreachable_agent_gets_the_newest_when_it_comes),
		TEST(refused_checks_back_off_until_the_token_changes),
		TEST(foreign_check_under_our_id_is_left_alone),
		TEST(a_call_past_its_timeout_starves_the_watchdog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
