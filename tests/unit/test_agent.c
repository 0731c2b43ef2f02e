// SPDX-License-Identifier: MIT
/* The agent's driver against an agent in memory: which calls are made, in which order. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "runner/agent.h"
#include "runner/consul.h"
#include "runner/log.h"

/* The agent in memory. Every call is a line of the journal and is answered in the next pass. */
static struct {
	json_t *checks, *services;
	int code; /* answers every PUT of a check with it; 0: honest */
	bool away; /* nobody listens */
	bool silent; /* takes calls, never answers */
	void (*token_changed)(void *owner);
	void *owner;
	bool token_waits; /* the next refresh finds another token */
} fake;

static struct ev_loop *loop;
static char journal[8192];
static char said[8192];

struct consul {
	int unused;
};

struct consul_call {
	ev_timer timer;
	struct consul_reply reply;
	struct consul_answer answer;
	bool silent;
};

void log_write(enum log_level level, const char *format, ...)
{
	va_list arguments;
	size_t used = strlen(said);

	(void)level;
	va_start(arguments, format);
	(void)vsnprintf(said + used, sizeof(said) - used, format, arguments);
	va_end(arguments);
	strncat(said, "\n", sizeof(said) - strlen(said) - 1);
}

static void on_call(struct ev_loop *the_loop, ev_timer *timer, int events)
{
	struct consul_call *call = (struct consul_call *)timer;

	(void)the_loop;
	(void)events;
	call->reply.done(call->reply.owner, &call->answer);
	json_decref(call->answer.json);
	free(call);
}

static struct consul_call *answer_with(
	const struct consul_reply *reply, enum consul_result result, int code, json_t *take_json)
{
	struct consul_call *call = xcalloc(1, sizeof(*call));

	call->reply = *reply;
	call->answer = (struct consul_answer){
		.result = fake.away ? CONSUL_REFUSED : result,
		.code = fake.away ? 0 : code,
		.cause = fake.away                   ? "Connection refused"
			: result == CONSUL_OK        ? ""
			: result == CONSUL_FORBIDDEN ? "403 Permission denied"
						     : "500 no such check",
		.json = take_json,
	};
	call->silent = fake.silent;
	ev_timer_init(&call->timer, on_call, 0, 0);
	if (!call->silent)
		ev_timer_start(loop, &call->timer);
	return call;
}

static struct consul_call *answer_code(const struct consul_reply *reply, int code)
{
	return answer_with(reply,
		code == 200           ? CONSUL_OK
			: code == 403 ? CONSUL_FORBIDDEN
			: code == 404 ? CONSUL_NOT_FOUND
				      : CONSUL_FAILED,
		code, NULL);
}

bool consul_cancel(struct consul_call *call)
{
	ev_timer_stop(loop, &call->timer);
	json_decref(call->answer.json);
	free(call);
	return true;
}

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
	va_list arguments;
	size_t used = strlen(journal);

	va_start(arguments, format);
	(void)vsnprintf(journal + used, sizeof(journal) - used, format, arguments);
	va_end(arguments);
	strncat(journal, "; ", sizeof(journal) - strlen(journal) - 1);
}

struct consul *consul_create(const struct consul_setup *setup)
{
	fake.token_changed = setup->token_changed;
	fake.owner = setup->owner;
	return xcalloc(1, sizeof(struct consul));
}

void consul_destroy(struct consul *consul)
{
	free(consul);
}

void consul_refresh(struct consul *consul, bool again)
{
	(void)consul;
	(void)again;
	if (!fake.token_waits)
		return;
	fake.token_waits = false;
	fake.token_changed(fake.owner);
}

const char *consul_address(const struct consul *consul)
{
	(void)consul;
	return "fake:8500";
}

/* Holds what a registration leaves: an existing check keeps its status. */
static void store(const char *id, const char *service, json_t *body)
{
	json_t *old = json_object_get(fake.checks, id);
	const char *status = json_string_value(json_object_get(old == NULL ? body : old, "Status"));

	(void)json_object_set_new(fake.checks, id,
		json_pack("{s:s, s:s, s:s, s:s, s:s}", "CheckID", id, "Type", "ttl", "Status",
			status, "ServiceID", service, "Notes",
			json_string_value(json_object_get(body, "Notes"))));
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value == NULL ? "" : value;
}

struct consul_call *consul_check_update(struct consul *consul, const char *id,
	enum probe_status status, const char *output, struct consul_reply reply)
{
	json_t *check = json_object_get(fake.checks, id);
	int code = fake.code != 0 ? fake.code : check == NULL ? 500 : 200;

	(void)consul;
	note("update %s=%s:%s", id, status_name(status), output);
	if (code == 200 && !fake.away)
		(void)json_object_set_new(check, "Status", json_string(status_name(status)));
	return answer_code(&reply, code);
}

struct consul_call *consul_check_register(
	struct consul *consul, const json_t *body, struct consul_reply reply)
{
	const char *service = text(body, "ServiceID");
	bool known = *service == '\0' || json_object_get(fake.services, service) != NULL;
	int code = fake.code != 0 ? fake.code : known ? 200 : 500;

	(void)consul;
	note("register %s=%s", text(body, "ID"), text(body, "Status"));
	if (code == 200 && !fake.away)
		store(text(body, "ID"), service, (json_t *)body);
	return answer_code(&reply, code);
}

struct consul_call *consul_check_deregister(
	struct consul *consul, const char *id, struct consul_reply reply)
{
	(void)consul;
	note("deregister %s", id);
	(void)json_object_del(fake.checks, id);
	return answer_code(&reply, 200);
}

struct consul_call *consul_service_register(
	struct consul *consul, const json_t *body, struct consul_reply reply)
{
	json_t *check, *checks = json_object_get(body, "Checks");
	size_t i;

	(void)consul;
	note("service %s", text(body, "ID"));
	(void)json_object_set_new(fake.services, text(body, "ID"),
		json_pack("{s:s, s:O}", "Service", text(body, "Name"), "Weights",
			json_object_get(body, "Weights")));
	json_array_foreach (checks, i, check) {
		note("with %s=%s", text(check, "CheckID"), text(check, "Status"));
		store(text(check, "CheckID"), text(body, "ID"), check);
	}
	return answer_code(&reply, 200);
}

struct consul_call *consul_service_get(
	struct consul *consul, const char *id, struct consul_reply reply)
{
	json_t *service = json_object_get(fake.services, id);

	(void)consul;
	note("get %s", id);
	if (service == NULL)
		return answer_code(&reply, 404);
	return answer_with(&reply, CONSUL_OK, 200, json_incref(service));
}

struct consul_call *consul_checks_get(
	struct consul *consul, const char *id, struct consul_reply reply)
{
	(void)consul;
	if (id == NULL)
		note("checks");
	else
		note("look %s", id);
	return answer_with(&reply, CONSUL_OK, 200, json_deep_copy(fake.checks));
}

/* The configuration: two checks of web-1, and a node check. */
static struct register_conf registration = {.name = "web", .weights = {1, 1}};
static struct service_conf services[] = {{.id = "web-1"}};
static struct check_conf checks[4];
static struct settings settings;
static struct agent *agent;

static void set_check(size_t index, const char *id, const char *name, bool node)
{
	checks[index] = (struct check_conf){.id = id,
		.name = name,
		.ttl = 3,
		.node = node,
		.service = node ? NULL : &services[0]};
}

static int set_up(void **unused)
{
	(void)unused;
	memset(&fake, 0, sizeof(fake));
	fake.checks = json_object();
	fake.services = json_object();
	journal[0] = said[0] = '\0';
	loop = ev_default_loop(0);
	services[0] = (struct service_conf){.id = "web-1"};
	set_check(0, "a", "a", false);
	set_check(1, "b", "b", false);
	set_check(2, "n", "n", true);
	settings = (struct settings){.instance = "test",
		.services = services,
		.service_count = 1,
		.checks = checks,
		.check_count = 2};
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	agent_destroy(agent);
	agent = NULL;
	json_decref(fake.checks);
	json_decref(fake.services);
	ev_loop_destroy(loop);
	return 0;
}

static void on_time(struct ev_loop *the_loop, ev_timer *timer, int events)
{
	(void)timer;
	(void)events;
	ev_break(the_loop, EVBREAK_ALL);
}

static void run_for(double seconds)
{
	ev_timer timer;

	ev_timer_init(&timer, on_time, seconds, 0);
	ev_now_update(loop);
	ev_timer_start(loop, &timer);
	ev_run(loop, 0);
}

static void expect(const char *wanted)
{
	run_for(0.15);
	assert_string_equal(journal, wanted);
	journal[0] = '\0';
}

static void publish(const char *id, enum probe_status status, const char *output)
{
	const struct claim claim = {.status = status, .output = output, .fresh_until = HUGE_VAL};

	agent_publish(agent_find(agent, id), &claim);
}

static void know_service(void)
{
	(void)json_object_set_new(fake.services, "web-1",
		json_pack("{s:s, s:{s:i, s:i}}", "Service", "web", "Weights", "Passing", 1,
			"Warning", 1));
}

static void know_check(const char *id, const char *service, const char *notes, const char *type)
{
	(void)json_object_set_new(fake.checks, id,
		json_pack("{s:s, s:s, s:s, s:s, s:s}", "CheckID", id, "Type", type, "Status",
			"passing", "ServiceID", service, "Notes", notes));
}

#define MARK "[probity:test]"

static size_t count_lines(const char *part)
{
	size_t count = 0;

	for (const char *at = said; (at = strstr(at, part)) != NULL; at++)
		count++;
	return count;
}

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
	expect("register a=critical; ");
	run_for(1);
	assert_string_equal(journal, "register a=critical; ");
	assert_int_equal(count_lines("a: the agent refuses: 403 Permission denied"), 1);
	fake.code = 0;
	fake.token_waits = true;
	journal[0] = '\0';
	run_for(1); /* the next try would be 2 s after the last */
	assert_non_null(strstr(journal, "register a=critical; update a=critical:down; "));
	assert_int_equal(count_lines("refuses no check any more"), 1);
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
	services[0].on_stop = ON_STOP_CRITICAL;
	know_service();
	know_check("a", "web-1", MARK, "ttl");
	know_check("b", "web-1", MARK, "ttl");
	agent = agent_create(loop, &settings);
	publish("a", PROBE_PASSING, "fine");
	publish("b", PROBE_PASSING, "good");
	run_for(0.2);
	journal[0] = '\0';
	stop_within(2);
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

static void without_consul_nobody_is_called(void **unused)
{
	struct agent_view view;

	(void)unused;
	settings.consul.address.off = true;
	agent = agent_create(loop, &settings);
	publish("a", PROBE_CRITICAL, "down");
	agent_reload(agent, &settings);
	expect("");
	agent_view(agent, &view);
	assert_true(view.off);
	stop_within(0.5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

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
		TEST(lost_state_is_restored_with_the_current_status),
		TEST(a_server_error_closes_the_gate_and_says_so_once),
		TEST(unreachable_agent_gets_the_newest_when_it_comes),
		TEST(refused_checks_back_off_until_the_token_changes),
		TEST(changed_definition_is_registered_before_its_next_claim),
		TEST(what_left_the_configuration_is_deregistered),
		TEST(the_last_check_of_a_service_goes_loudly),
		TEST(foreign_check_under_our_id_is_left_alone),
		TEST(stopping_says_what_is_bad_and_not_known),
		TEST(stopping_says_critical_where_asked_to),
		TEST(stopping_waits_no_longer_than_allowed),
		TEST(without_consul_nobody_is_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
