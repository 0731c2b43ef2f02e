// SPDX-License-Identifier: MIT
/* The end: what is said, for which services, and how long it may take. */
#include "tests/unit/agent_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "runner/unit_state.h"

/* What systemd says of each unit that it is asked for; no `active`: it does not answer. */
static struct unit_state unit;

struct unit_question {
	ev_timer timer;
	struct unit_asker asker;
	char names[200]; /* each with a blank after it */
};

struct unit_question *__wrap_unit_state_ask(
	const struct unit_asker *asker, const char *const *names);
void __wrap_unit_state_cancel(struct unit_question *question);

static void on_question(struct ev_loop *the_loop, ev_timer *timer, int events)
{
	struct unit_question *question = (struct unit_question *)timer;
	struct unit_state state = unit;
	char *rest;

	(void)the_loop;
	(void)events;
	for (char *name = strtok_r(question->names, " ", &rest);
		unit.active != NULL && name != NULL; name = strtok_r(NULL, " ", &rest)) {
		state.name = name;
		question->asker.answer(question->asker.owner, &state);
	}
	question->asker.done(
		question->asker.owner, unit.active != NULL ? NULL : "systemd: no answer");
	free(question);
}

struct unit_question *__wrap_unit_state_ask(
	const struct unit_asker *asker, const char *const *names)
{
	struct unit_question *question = xcalloc(1, sizeof(*question));

	question->asker = *asker;
	for (; *names != NULL; names++) {
		size_t used = strlen(journal), length = strlen(question->names);

		(void)snprintf(journal + used, sizeof(journal) - used, "ask %s; ", *names);
		(void)snprintf(
			question->names + length, sizeof(question->names) - length, "%s ", *names);
	}
	ev_timer_init(&question->timer, on_question, unit.active != NULL ? 0 : asker->seconds, 0);
	ev_timer_start(loop, &question->timer);
	return question;
}

void __wrap_unit_state_cancel(struct unit_question *question)
{
	if (question != NULL)
		ev_timer_stop(loop, &question->timer);
	free(question);
}

static bool stopped;

static void on_stopped(void *owner)
{
	(void)owner;
	stopped = true;
	ev_break(loop, EVBREAK_ALL);
}

static void stop_within(double seconds)
{
	double begin = clock_monotonic();

	stopped = false;
	agent_stop(agent, seconds, on_stopped, NULL);
	while (!stopped)
		ev_run(loop, 0);
	assert_true(clock_monotonic() - begin < seconds + 0.3);
}

/* Two checks of the service pass; then the end. */
static void run_and_stop(enum on_stop on_stop, const char *name)
{
	services[0].on_stop = (int)on_stop;
	services[0].unit = name;
	know_service();
	know_check("a", "web-1", MARK, "ttl");
	know_check("b", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	publish("b", PROBE_PASSING, "good");
	run_for(0.2);
	journal[0] = '\0';
	stop_within(2);
}

static void stopping_says_what_is_bad_and_not_known(void **unused)
{
	(void)unused;
	know_service();
	know_check("a", "web-1", MARK, "ttl");
	know_check("b", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	publish("b", PROBE_PASSING, "good");
	run_for(0.2);
	journal[0] = '\0';
	publish("b", PROBE_CRITICAL, "down");
	stop_within(2);
	assert_string_equal(journal, "update b=critical:down; ");
}

static void stopping_says_critical_where_asked_to(void **unused)
{
	(void)unused;
	run_and_stop(ON_STOP_CRITICAL, "web.service");
	assert_non_null(strstr(journal, "update a=critical:probity stopped; "));
	assert_non_null(strstr(journal, "update b=critical:probity stopped; "));
}

static void stopping_waits_no_longer_than_allowed(void **unused)
{
	(void)unused;
	fake.away = true;
	agent = agent_create(loop, &settings);
	publish("a", PROBE_CRITICAL, "down");
	run_for(0.1);
	fake.silent = true;
	fake.away = false;
	stop_within(0.4);
}

static void a_capped_check_is_not_made_critical(void **unused)
{
	(void)unused;
	checks[1].max_status = PROBE_PASSING;
	run_and_stop(ON_STOP_CRITICAL, NULL);
	assert_string_equal(journal, "update a=critical:probity stopped; ");
}

static void auto_follows_the_unit(void **unused)
{
	static const struct {
		const char *load, *active, *job;
		bool critical;
	} cases[] = {
		{"loaded", "inactive", "", true},
		{"loaded", "failed", "", true},
		{"loaded", "active", "", false},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unit = (struct unit_state){
			.load = cases[i].load, .active = cases[i].active, .job = cases[i].job};
		run_and_stop(ON_STOP_AUTO, "web.service");
		assert_string_equal(journal,
			cases[i].critical ? "ask web.service; "
					    "update a=critical:stopped with web.service; "
					    "update b=critical:stopped with web.service; "
					  : "ask web.service; ");
		assert_int_equal(tear_down(NULL), 0);
		assert_int_equal(set_up(NULL), 0);
	}
}

static void auto_without_a_unit_asks_nobody(void **unused)
{
	(void)unused;
	unit = (struct unit_state){.load = "loaded", .active = "inactive", .job = ""};
	run_and_stop(ON_STOP_AUTO, NULL);
	assert_string_equal(journal, "");
}

static void auto_leaves_the_claim_where_nobody_answers(void **unused)
{
	double begin = clock_monotonic();

	(void)unused;
	unit.active = NULL;
	run_and_stop(ON_STOP_AUTO, "web.service");
	assert_string_equal(journal, "ask web.service; ");
	assert_true(clock_monotonic() - begin < 1.8);
	assert_int_equal(count_lines("cannot be asked: systemd: no answer"), 1);
}

static void what_is_bad_does_not_wait_for_the_unit(void **unused)
{
	(void)unused;
	unit.active = NULL;
	services[0].unit = "web.service";
	know_service();
	know_check("a", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	run_for(0.2);
	journal[0] = '\0';
	publish("a", PROBE_CRITICAL, "down");
	stopped = false;
	agent_stop(agent, 2, on_stopped, NULL);
	run_for(0.2);
	assert_string_equal(journal, "update a=critical:down; ask web.service; ");
	assert_false(stopped);
}

static void an_end_in_the_middle_of_a_question_leaks_nothing(void **unused)
{
	(void)unused;
	services[0].unit = "web.service";
	agent = agent_create(loop, &settings);
	agent_stop(agent, 2, on_stopped, NULL);
}

static void deregister_takes_the_service_and_its_checks_along(void **unused)
{
	(void)unused;
	services[0].registration = &registration;
	services[0].on_stop = ON_STOP_DEREGISTER;
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	publish("b", PROBE_PASSING, "good");
	run_for(0.2);
	publish("b", PROBE_CRITICAL, "down");
	journal[0] = '\0';
	stop_within(2);
	assert_null(strstr(journal, "register web-1"));
	assert_non_null(strstr(journal, "deregister service web-1; "));
	assert_null(json_object_get(fake.services, "web-1"));
	assert_int_equal(count_lines("service web-1 deregistered"), 1);
}

static void a_refused_deregistration_is_said_and_not_waited_for(void **unused)
{
	double begin;

	(void)unused;
	services[0].registration = &registration;
	services[0].on_stop = ON_STOP_DEREGISTER;
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	run_for(0.2);
	fake.code = 403;
	begin = clock_monotonic();
	stop_within(2);
	assert_true(clock_monotonic() - begin < 1);
	assert_int_equal(count_lines("web-1 is not deregistered: 403 Permission denied"), 1);
}

static void a_deregistration_is_tried_as_long_as_there_is_time(void **unused)
{
	(void)unused;
	services[0].registration = &registration;
	services[0].on_stop = ON_STOP_DEREGISTER;
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	run_for(0.2);
	fake.away = true;
	stop_within(1.6);
	assert_non_null(json_object_get(fake.services, "web-1"));
	assert_non_null(strstr(journal, "deregister service web-1; deregister service web-1; "));
}

static void without_consul_nobody_is_called(void **unused)
{
	struct agent_view view;

	(void)unused;
	settings.consul.address.off = true;
	services[0].unit = "web.service";
	agent = agent_create(loop, &settings);
	publish("a", PROBE_CRITICAL, "down");
	agent_reload(agent, &settings);
	expect("");
	agent_view(agent, &view);
	assert_true(view.off);
	stop_within(0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stopping_says_what_is_bad_and_not_known),
		TEST(stopping_says_critical_where_asked_to),
		TEST(stopping_waits_no_longer_than_allowed),
		TEST(without_consul_nobody_is_called),
		TEST(a_capped_check_is_not_made_critical),
		TEST(auto_follows_the_unit),
		TEST(auto_without_a_unit_asks_nobody),
		TEST(auto_leaves_the_claim_where_nobody_answers),
		TEST(what_is_bad_does_not_wait_for_the_unit),
		TEST(an_end_in_the_middle_of_a_question_leaks_nothing),
		TEST(deregister_takes_the_service_and_its_checks_along),
		TEST(a_refused_deregistration_is_said_and_not_waited_for),
		TEST(a_deregistration_is_tried_as_long_as_there_is_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
