// SPDX-License-Identifier: MIT
/* The catalog read back: what is said of it, when, and what is done. */
#include "tests/unit/agent_bench.h"

#include <string.h>

#include "probes/clock.h"

#define PACE 0.2 /* s between two looks, as configured here; the jitter adds 15 % at most */

double __real_clock_monotonic(void);
double __wrap_clock_monotonic(void);

static double clock_shift; /* s that this program is ahead of the machine */

double __wrap_clock_monotonic(void)
{
	return __real_clock_monotonic() + clock_shift;
}

static void say_in_catalog(const char *id, const char *status, const char *output, int index)
{
	(void)json_array_append_new(fake.catalog,
		json_pack("{s:s, s:s, s:s, s:s, s:i}", "CheckID", id, "Status", status, "Output",
			output, "Notes", "patching", "ModifyIndex", index));
}

/* Passing "fine" has been told of a; the catalog has nothing yet but the node's own check. */
static void start_told(void)
{
	settings.consul.read_back = PACE;
	settings.check_count = 1;
	checks[0].ttl = 600;
	know_service();
	know_check("a", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	run_for(0.12);
	assert_string_equal(
		journal, "checks; get web-1; register a=passing; update a=passing:fine; ");
	journal[0] = '\0';
	say_in_catalog("serfHealth", "passing", "", 1);
}

static void run_looks(unsigned int count)
{
	unsigned int end = fake.looks + count;

	while (fake.looks < end)
		run_for(0.02);
	run_for(0.05);
}

static const char *problem_of(const char *id)
{
	static struct agent_check_view view;

	agent_check_view(agent_find(agent, id), &view);
	return view.problem == NULL ? "" : view.problem;
}

static void the_same_is_no_news(void **unused)
{
	(void)unused;
	start_told();
	say_in_catalog("a", "passing", "old", 7); /* outputs go there minutes later */
	run_looks(4);
	assert_string_equal(journal, "");
	assert_string_equal(said, "");
	assert_string_equal(problem_of("a"), "");
}

static void an_entry_that_stays_different_is_frozen(void **unused)
{
	static const char line[] =
		"a: the catalog stays critical, though the agent was told passing";

	(void)unused;
	start_told();
	say_in_catalog("a", "critical", "x", 7);
	run_looks(1);
	assert_int_equal(count_lines(line), 0);
	run_looks(3);
	assert_int_equal(count_lines(line), 1);
	assert_string_equal(problem_of("a"), line + strlen("a: "));
	/* The token of the registration may be what is wrong. */
	assert_non_null(strstr(journal, "register a=passing; update a=passing:fine; "));
	(void)json_array_remove(fake.catalog, 1);
	say_in_catalog("a", "passing", "x", 8);
	run_looks(5);
	assert_int_equal(count_lines("a: the catalog has what the agent was told again"), 1);
	assert_int_equal(count_lines("stays critical"), 1);
	assert_string_equal(problem_of("a"), "");
}

static void an_entry_that_is_written_anew_is_anothers(void **unused)
{
	(void)unused;
	start_told();
	for (int i = 0; i < 5; i++) {
		say_in_catalog("a", i % 2 == 0 ? "warning" : "passing", "x", 7 + i);
		run_looks(1);
		(void)json_array_remove(fake.catalog, 1);
	}
	assert_int_equal(count_lines("a: another writer: the catalog says warning, which was not "
				     "sent; the agent was told passing"),
		1);
	assert_null(strstr(journal, "register"));
}

static void one_that_is_not_there_is_registered_again(void **unused)
{
	(void)unused;
	start_told();
	run_looks(3);
	assert_int_equal(
		count_lines("a: the catalog does not have this check, which the agent has"), 1);
	assert_non_null(strstr(journal, "register a=passing; update a=passing:fine; "));
}

static void a_change_on_its_way_is_no_difference(void **unused)
{
	(void)unused;
	start_told();
	say_in_catalog("a", "passing", "x", 7);
	for (int i = 0; i < 8; i++) {
		publish("a", i % 2 == 0 ? PROBE_WARNING : PROBE_CRITICAL, "fine");
		run_for(PACE / 3);
	}
	assert_string_equal(said, "");
}

static void an_output_that_changes_hides_no_difference(void **unused)
{
	(void)unused;
	start_told();
	say_in_catalog("a", "critical", "x", 7);
	for (int i = 0; i < 10; i++) {
		publish("a", PROBE_PASSING, i % 2 == 0 ? "one" : "two");
		run_for(PACE / 3);
	}
	assert_int_equal(count_lines("a: the catalog stays critical"), 1);
}

/* What nobody renews is critical by the agent's own doing. */
static void a_ttl_that_has_run_out_is_no_difference(void **unused)
{
	(void)unused;
	start_told();
	agent_hold(agent_find(agent, "a"));
	clock_shift += 601;
	say_in_catalog("a", "critical", "TTL expired", 7);
	run_looks(4);
	assert_string_equal(said, "");
}

static void an_output_that_was_not_sent_is_anothers(void **unused)
{
	(void)unused;
	start_told();
	say_in_catalog("a", "passing", "theirs", 7);
	run_looks(3);
	assert_string_equal(said, "");
	clock_shift += 601;
	publish("a", PROBE_PASSING, "fine"); /* a heartbeat is due, too */
	run_looks(3);
	assert_int_equal(
		count_lines("a: another writer: the catalog has an output that was not sent"), 1);
	/* None, and a shorter one, are the agent's own doing. */
	(void)json_array_remove(fake.catalog, 1);
	say_in_catalog("a", "passing", "", 8);
	run_looks(2);
	(void)json_array_remove(fake.catalog, 1);
	say_in_catalog("a", "passing", "fi ... (captured 2 of 4 bytes)", 9);
	run_looks(3);
	assert_int_equal(count_lines("a: the catalog has what the agent was told again"), 1);
}

static void maintenance_is_said_once_and_shown(void **unused)
{
	(void)unused;
	start_told();
	say_in_catalog("a", "passing", "fine", 7);
	say_in_catalog("_service_maintenance:web-1", "critical", "", 8);
	say_in_catalog("_service_maintenance:other", "critical", "", 9);
	run_looks(3);
	assert_int_equal(count_lines("service web-1 is in maintenance mode: patching; it is "
				     "critical whatever its checks say"),
		1);
	assert_int_equal(count_lines("maintenance"), 1);
	assert_string_equal(problem_of("a"), "service web-1 is in maintenance mode: patching");
	say_in_catalog("_node_maintenance", "critical", "", 10);
	run_looks(2);
	assert_int_equal(count_lines("the node is in maintenance mode: patching"), 1);
	assert_string_equal(problem_of("a"), "the node is in maintenance mode: patching");
	while (json_array_size(fake.catalog) > 2)
		(void)json_array_remove(fake.catalog, 2);
	run_looks(5);
	assert_int_equal(count_lines("service web-1 is not in maintenance mode any more"), 1);
	assert_int_equal(count_lines("the node is not in maintenance mode any more"), 1);
	assert_string_equal(problem_of("a"), "");
}

static void without_the_right_it_is_off_and_said_once(void **unused)
{
	struct agent_view view;

	(void)unused;
	start_told();
	(void)json_array_clear(fake.catalog);
	run_looks(4);
	assert_int_equal(count_lines("consul: the catalog is not read back: the token may not read "
				     "the node n1"),
		1);
	assert_int_equal(count_lines("the catalog does not have"), 0);
	agent_view(agent, &view);
	assert_string_equal(view.read_back, "the token may not read the node n1");
	say_in_catalog("serfHealth", "passing", "", 1);
	say_in_catalog("a", "passing", "fine", 7);
	run_looks(1);
	assert_int_equal(count_lines("the catalog is read back again"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_same_is_no_news),
		TEST(an_entry_that_stays_different_is_frozen),
		TEST(an_entry_that_is_written_anew_is_anothers),
		TEST(one_that_is_not_there_is_registered_again),
		TEST(a_change_on_its_way_is_no_difference),
		TEST(an_output_that_changes_hides_no_difference),
		TEST(a_ttl_that_has_run_out_is_no_difference),
		TEST(an_output_that_was_not_sent_is_anothers),
		TEST(maintenance_is_said_once_and_shown),
		TEST(without_the_right_it_is_off_and_said_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
