// SPDX-License-Identifier: MIT
/* Whose a check or a service is, and what is done with one that is not ours. */
#include "tests/unit/agent_bench.h"

#include <string.h>

#include "probes/clock.h"

double __real_clock_monotonic(void);
double __wrap_clock_monotonic(void);

static double clock_shift; /* s that this program is ahead of the machine */

double __wrap_clock_monotonic(void)
{
	return __real_clock_monotonic() + clock_shift;
}

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

static void end_service(void)
{
	(void)json_object_clear(fake.services);
	(void)json_object_clear(fake.checks);
}

/* With both checks published, and one critical for `ago` seconds. */
static void start_critical(double ago, bool revive)
{
	registration.deregister_critical_service_after = 60;
	registration.revive = revive;
	services[0].registration = &registration;
	checks[0].ttl = checks[1].ttl = 600;
	know_service();
	agent = agent_create(loop, &settings);
	publish("a", PROBE_CRITICAL, "down");
	publish("b", PROBE_PASSING, "good");
	run_for(0.2);
	assert_int_equal(text(json_object_get(fake.checks, "a"), "Status")[0], 'c');
	clock_shift += ago;
	end_service();
	journal[0] = '\0';
}

static void a_service_that_was_critical_for_long_stays_away(void **unused)
{
	struct agent_check_view view;

	(void)unused;
	start_critical(61, false);
	publish("a", PROBE_PASSING, "up");
	run_for(2.5);
	assert_null(strstr(journal, "service web-1"));
	assert_null(strstr(journal, "register"));
	assert_int_equal(
		count_lines("service web-1: removed by the agent: a check was critical for 1m; it "
			    "is not registered again before probity is started again"),
		1);
	assert_int_equal(count_lines("does not have this check"), 1);
	assert_int_equal(count_lines("has all checks again"), 0);
	agent_check_view(agent_find(agent, "b"), &view);
	assert_string_equal(view.problem, "removed by the agent: a check was critical for 1m");
	/* Somebody else may put it back. */
	know_service();
	run_for(1.3);
	assert_non_null(strstr(journal, "register a=passing; "));
	assert_int_equal(count_lines("service web-1 is registered again"), 1);
}

static void it_is_revived_once_nothing_is_critical(void **unused)
{
	(void)unused;
	start_critical(61, true);
	publish("b", PROBE_WARNING, "hm");
	run_for(1.5);
	assert_null(strstr(journal, "service web-1"));
	assert_int_equal(
		count_lines("not registered again until none of its checks is critical"), 1);
	publish("a", PROBE_PASSING, "up");
	run_for(1.3);
	assert_non_null(strstr(journal, "service web-1; with a=passing; with b=warning; "));
	assert_int_equal(count_lines("service web-1 is registered again"), 1);
}

static void one_that_vanished_earlier_was_not_reaped(void **unused)
{
	(void)unused;
	start_critical(30, false);
	publish("b", PROBE_WARNING, "hm");
	run_for(0.3);
	assert_non_null(strstr(journal, "service web-1; with a=critical; with b=warning; "));
	assert_int_equal(count_lines("removed by the agent"), 0);
}

/* Its time of critical checks began anew when it started. */
static void one_that_was_lost_in_a_restart_was_not_reaped(void **unused)
{
	(void)unused;
	start_critical(100, false);
	fake.away = true;
	publish("b", PROBE_WARNING, "hm");
	run_for(0.2);
	fake.away = false;
	run_for(1.5);
	assert_non_null(strstr(journal, "service web-1; with a=critical; with b=warning; "));
	assert_int_equal(count_lines("removed by the agent"), 0);
}

static void know_service_as(const char *hash)
{
	know_service();
	(void)json_object_set_new(
		json_object_get(fake.services, "web-1"), "ContentHash", json_string(hash));
}

static void a_service_that_goes_is_noticed_at_once(void **unused)
{
	(void)unused;
	checks[0].ttl = 600;
	know_service_as("1");
	know_check("a", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	expect("checks; get web-1; register a=passing; update a=passing:fine; wait web-1 1; ");
	end_service();
	end_vigil(404);
	expect("get web-1; ");
	assert_int_equal(count_lines("unknown service web-1: waiting"), 1);
	know_service_as("2");
	run_for(1.3);
	assert_non_null(strstr(journal, "register a=passing; "));
	assert_non_null(strstr(journal, "update a=passing:fine; "));
	assert_non_null(strstr(journal, "wait web-1 2; "));
	assert_int_equal(fake.vigils, 1);
}

static void a_service_that_changes_has_its_checks_counted(void **unused)
{
	(void)unused;
	checks[0].ttl = 600;
	know_service_as("1");
	know_check("a", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	run_for(1.1);
	journal[0] = '\0';
	know_service_as("2");
	(void)json_object_clear(fake.checks); /* by ?replace-existing-checks */
	end_vigil(200);
	run_for(0.3);
	assert_non_null(strstr(journal, "checks; "));
	assert_non_null(strstr(journal, "register a=passing; "));
	assert_non_null(strstr(journal, "update a=passing:fine; "));
	run_for(1);
	assert_non_null(strstr(journal, "wait web-1 2; "));
}

static void a_service_of_ours_that_changes_is_put_right(void **unused)
{
	(void)unused;
	services[0].registration = &registration;
	registration.deregister_critical_service_after = 0;
	checks[0].ttl = 600;
	settings.check_count = 1;
	know_service_as("1");
	know_check("a", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	run_for(1.1);
	assert_non_null(strstr(journal, "wait web-1 1; "));
	journal[0] = '\0';
	know_service_as("2");
	(void)json_object_set_new(
		json_object_get(fake.services, "web-1"), "Service", json_string("theirs"));
	(void)json_object_clear(fake.checks);
	end_vigil(200);
	run_for(0.4);
	assert_non_null(strstr(journal, "get web-1; "));
	assert_non_null(strstr(journal, "service web-1; "));
	assert_non_null(strstr(journal, "register a=passing; "));
	assert_non_null(strstr(journal, "update a=passing:fine; "));
	assert_string_equal(text(json_object_get(fake.services, "web-1"), "Service"), "web");
	assert_int_equal(fake.vigils, 1);
}

static size_t count_words(const char *part)
{
	size_t count = 0;

	for (const char *at = journal; (at = strstr(at, part)) != NULL; at++)
		count++;
	return count;
}

static void a_vigil_that_fails_does_not_spin(void **unused)
{
	(void)unused;
	checks[0].ttl = 600;
	know_service_as("1");
	know_check("a", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	run_for(0.2);
	journal[0] = '\0';
	end_vigil(200); /* nothing has changed */
	run_for(1.2);
	assert_string_equal(journal, "wait web-1 1; ");
	end_vigil(500);
	run_for(1.2);
	assert_int_equal(count_words("wait"), 2);
	end_vigil(500);
	run_for(1.2); /* the second time it is 2 s */
	assert_int_equal(count_words("wait"), 2);
	run_for(1);
	assert_int_equal(count_words("wait"), 3);
	assert_int_equal(count_lines("cannot be used"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(another_type_is_deregistered_before_ours_takes_its_place),
		TEST(another_owner_is_replaced_in_place),
		TEST(a_takeover_that_is_refused_is_tried_again),
		TEST(what_is_to_be_taken_over_does_not_come_with_its_service),
		TEST(a_service_that_was_critical_for_long_stays_away),
		TEST(it_is_revived_once_nothing_is_critical),
		TEST(one_that_vanished_earlier_was_not_reaped),
		TEST(one_that_was_lost_in_a_restart_was_not_reaped),
		TEST(a_service_that_goes_is_noticed_at_once),
		TEST(a_service_that_changes_has_its_checks_counted),
		TEST(a_service_of_ours_that_changes_is_put_right),
		TEST(a_vigil_that_fails_does_not_spin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
