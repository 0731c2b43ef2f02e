// SPDX-License-Identifier: MIT
/* Registration by the agent's driver: which calls are made, in which order. */
#include "tests/unit/agent_bench.h"

#include <string.h>

static void own_service_comes_with_all_its_checks(void **unused)
{
	(void)unused;
	services[0].registration = &registration;
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	expect("checks; get web-1; service web-1; with a=passing; with b=critical; "
	       "update a=passing:fine; ");
	publish("b", PROBE_WARNING, "so so");
	expect("update b=warning:so so; ");
}

static void own_service_that_stands_is_left_or_corrected(void **unused)
{
	(void)unused;
	services[0].registration = &registration;
	know_service();
	know_check("a", "web-1", MARK, "ttl");
	know_check("b", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	expect("checks; get web-1; ");
	(void)json_object_del(json_object_get(fake.services, "web-1"), "Weights");
	agent_destroy(agent);
	agent = agent_create(loop, &settings);
	expect("checks; get web-1; service web-1; ");
}

static void first_decision_registers_beside_other_checks(void **unused)
{
	(void)unused;
	know_service();
	know_check("foreign", "web-1", "", "http");
	agent = agent_create(loop, &settings);
	expect("checks; get web-1; ");
	publish("b", PROBE_CRITICAL, "down");
	expect("register b=critical; update b=critical:down; ");
}

static void bare_service_gets_all_checks_at_once(void **unused)
{
	(void)unused;
	know_service();
	agent = agent_create(loop, &settings);
	expect("checks; get web-1; register a=critical; register b=critical; ");
	publish("a", PROBE_PASSING, "fine");
	expect("update a=passing:fine; ");
}

static void node_checks_wait_for_their_decision(void **unused)
{
	(void)unused;
	settings.check_count = 3;
	know_service();
	know_check("a", "web-1", MARK, "ttl");
	know_check("b", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	expect("checks; get web-1; ");
	publish("n", PROBE_PASSING, "fine");
	expect("register n=passing; update n=passing:fine; ");
}

static void a_check_from_before_is_claimed_by_the_first_decision_only(void **unused)
{
	(void)unused;
	know_service();
	know_check("a", "web-1", "note " MARK, "ttl");
	know_check("b", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	agent_adopt(agent_find(agent, "a"), PROBE_PASSING);
	expect("checks; get web-1; ");
	publish("a", PROBE_PASSING, "fine");
	expect("register a=passing; update a=passing:fine; ");
}

static void unknown_service_is_waited_for(void **unused)
{
	struct agent_check_view view;

	(void)unused;
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	expect("checks; get web-1; ");
	assert_int_equal(count_lines("unknown service web-1: waiting"), 1);
	agent_check_view(agent_find(agent, "a"), &view);
	assert_string_equal(view.problem, "unknown service web-1");
	run_for(1);
	assert_string_equal(journal, "get web-1; ");
	know_service();
	journal[0] = '\0';
	run_for(1);
	assert_string_equal(journal,
		"get web-1; checks; register a=passing; register b=critical; "
		"update a=passing:fine; ");
	assert_int_equal(count_lines("unknown service web-1: waiting"), 1);
}

static void changed_definition_is_registered_before_its_next_claim(void **unused)
{
	struct check_conf changed[4];
	struct settings next = settings;

	(void)unused;
	know_service();
	know_check("a", "web-1", MARK, "ttl");
	know_check("b", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	run_for(0.1);
	journal[0] = '\0';
	memcpy(changed, checks, sizeof(changed));
	changed[0].notes = "new";
	next.checks = changed;
	agent_reload(agent, &next);
	agent_hold(agent_find(agent, "a"));
	run_for(1.1); /* an inventory goes by */
	assert_non_null(strstr(journal, "checks; "));
	assert_null(strstr(journal, "register"));
	publish("a", PROBE_WARNING, "slow");
	run_for(0.1);
	assert_non_null(strstr(journal, "register a=warning; update a=warning:slow; "));
	assert_non_null(strstr(text(json_object_get(fake.checks, "a"), "Notes"), "new " MARK));
	agent_destroy(agent);
	agent = NULL;
}

static void what_left_the_configuration_is_deregistered(void **unused)
{
	(void)unused;
	settings.check_count = 1;
	know_service();
	know_check("old", "web-1", "x " MARK, "ttl");
	know_check("foreign", "web-1", "[probity:other]", "ttl");
	know_check("plain", "web-1", "", "ttl");
	agent = agent_create(loop, &settings);
	/* "a" is new and may be a new name for "old": that stays until "a" is acknowledged. */
	run_for(0.4);
	assert_null(strstr(journal, "deregister"));
	publish("a", PROBE_PASSING, "fine");
	run_for(1.2);
	assert_non_null(strstr(journal, "update a=passing:fine; deregister old; "));
	assert_null(strstr(journal, "foreign"));
	assert_null(strstr(journal, "plain"));
	assert_int_equal(count_lines("counts as passing"), 0);
}

static void the_last_check_of_a_service_goes_loudly(void **unused)
{
	(void)unused;
	settings.check_count = 0;
	know_service();
	know_check("old", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	run_for(0.3);
	assert_non_null(strstr(journal, "deregister old; "));
	assert_int_equal(
		count_lines("service web-1 has no check any more and counts as passing"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(own_service_comes_with_all_its_checks),
		TEST(own_service_that_stands_is_left_or_corrected),
		TEST(first_decision_registers_beside_other_checks),
		TEST(bare_service_gets_all_checks_at_once),
		TEST(node_checks_wait_for_their_decision),
		TEST(a_check_from_before_is_claimed_by_the_first_decision_only),
		TEST(unknown_service_is_waited_for),
		TEST(changed_definition_is_registered_before_its_next_claim),
		TEST(what_left_the_configuration_is_deregistered),
		TEST(the_last_check_of_a_service_goes_loudly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
