// SPDX-License-Identifier: MIT
/* What is registered, when, and with which status; and the bodies byte by byte. */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "runner/register.h"

static const struct publish_step no_claim = {PUBLISH_NOTHING, PUBLISH_NEVER};
static const struct publish_step change = {PUBLISH_CHANGE, 5};
static const struct publish_step heartbeat = {PUBLISH_HEARTBEAT, 9};

static const struct {
	const char *what;
	struct register_facts facts;
	enum register_call call;
	double at;
	bool urgent;
	enum probe_status status;
} table[] = {
	{"before the first look nothing is known", {.service_there = true}, REGISTER_NOTHING, 0,
		false, 0},
	{"a foreign check is left alone",
		{.presence = PRESENCE_CLASH, .service_there = true, .bare = true}, REGISTER_NOTHING,
		0, false, 0},
	{"an undecided check waits", {.presence = PRESENCE_ABSENT, .service_there = true},
		REGISTER_NOTHING, 0, false, 0},
	{"an undecided check of a bare service does not, and is critical",
		{.presence = PRESENCE_ABSENT, .service_there = true, .bare = true}, REGISTER_CHECK,
		0, true, PROBE_CRITICAL},
	{"without its service there is nothing to register it on",
		{.presence = PRESENCE_ABSENT, .bare = true}, REGISTER_NOTHING, 0, false, 0},
	{"the first decision comes with the registration",
		{.presence = PRESENCE_ABSENT, .service_there = true, .status = PROBE_WARNING},
		REGISTER_CHECK, 5, true, PROBE_WARNING},
	{"a refusal sets a floor",
		{.presence = PRESENCE_ABSENT, .service_there = true, .not_before = 30},
		REGISTER_CHECK, 30, true, PROBE_PASSING},
	{"one of another version is not registered without a claim",
		{.presence = PRESENCE_OURS, .service_there = true}, REGISTER_NOTHING, 0, false, 0},
	{"one of another version is registered before the claim",
		{.presence = PRESENCE_OURS, .status = PROBE_PASSING}, REGISTER_CHECK, 5, true,
		PROBE_PASSING},
	{"a change of one that stands goes first",
		{.presence = PRESENCE_OURS, .definition_sent = true}, REGISTER_UPDATE, 5, true, 0},
	{"its heartbeat does not", {.presence = PRESENCE_OURS, .definition_sent = true},
		REGISTER_UPDATE, 9, false, 0},
};

static void table_of_decisions(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct register_facts facts = table[i].facts;
		struct register_plan plan;

		facts.claim = table[i].at >= 9 && table[i].at < 10 ? heartbeat
			: table[i].at > 0                          ? change
								   : no_claim;
		plan = register_next(&facts);
		if (plan.call != table[i].call)
			fail_msg("%s: call %d", table[i].what, plan.call);
		if (plan.call == REGISTER_NOTHING)
			continue;
		if (plan.at < table[i].at || plan.at > table[i].at)
			fail_msg("%s: at %f", table[i].what, plan.at);
		if (plan.urgent != table[i].urgent)
			fail_msg("%s: urgent %d", table[i].what, plan.urgent);
		if (plan.call == REGISTER_CHECK && plan.status != table[i].status)
			fail_msg("%s: status %d", table[i].what, plan.status);
	}
}

static void only_the_own_mark_at_the_end_counts(void **unused)
{
	(void)unused;
	assert_true(register_is_marked("[probity:web]", "web"));
	assert_true(register_is_marked("see wiki [probity:web]", "web"));
	assert_true(register_is_marked("[probity:/a/[b].yaml]", "/a/[b].yaml"));
	assert_false(register_is_marked("[probity:web2]", "web"));
	assert_false(register_is_marked("[probity:web] edited", "web"));
	assert_false(register_is_marked("probity:web]", "web"));
	assert_false(register_is_marked("", "web"));
	assert_false(register_is_marked(NULL, "web"));
}

static void a_look_knows_ours_from_foreign(void **unused)
{
	json_t *checks = json_pack(
		"{s:{s:s,s:s}, s:{s:s,s:s}, s:{s:s,s:s}, s:{s:s,s:s}, s:{s:s}, s:{s:s}}", "ours",
		"Type", "ttl", "Notes", "[probity:web]", "http", "Type", "http", "Notes",
		"[probity:web]", "other", "Type", "ttl", "Notes", "[probity:db]", "plain", "Type",
		"ttl", "Notes", "", "old", "Notes", "x [probity:web]", "untold", "Type", "ttl");

	(void)unused;
	assert_int_equal(register_look(checks, "ours", "web"), PRESENCE_OURS);
	assert_int_equal(register_look(checks, "old", "web"), PRESENCE_OURS);
	assert_int_equal(register_look(checks, "http", "web"), PRESENCE_CLASH);
	assert_int_equal(register_look(checks, "other", "web"), PRESENCE_CLASH);
	assert_int_equal(register_look(checks, "plain", "web"), PRESENCE_CLASH);
	assert_int_equal(register_look(checks, "untold", "web"), PRESENCE_OURS);
	assert_int_equal(register_look(checks, "none", "web"), PRESENCE_ABSENT);
	assert_string_equal(register_type(checks, "http"), "http");
	assert_string_equal(register_type(checks, "none"), "");
	json_decref(checks);
}

static struct service_conf web = {.id = "web-1"};
static const struct check_conf ready = {
	.name = "ready", .id = "web-1:ready", .ttl = 60, .service = &web};
static const struct check_conf disk = {
	.name = "disk", .id = "probity:disk", .ttl = 4.5, .node = true, .notes = "see the wiki"};

static void expect_json(json_t *take_json, const char *wanted)
{
	char *text = json_dumps(take_json, JSON_COMPACT);

	assert_string_equal(text, wanted);
	free(text);
	json_decref(take_json);
}

static void bodies_of_checks(void **unused)
{
	(void)unused;
	expect_json(register_check_body(&ready, "web", PROBE_WARNING),
		"{\"Name\":\"ready\",\"Notes\":\"[probity:web]\",\"TTL\":\"60s\","
		"\"Status\":\"warning\",\"ID\":\"web-1:ready\",\"ServiceID\":\"web-1\"}");
	expect_json(register_check_body(&disk, "web", PROBE_CRITICAL),
		"{\"Name\":\"disk\",\"Notes\":\"see the wiki [probity:web]\",\"TTL\":\"4500ms\","
		"\"Status\":\"critical\",\"ID\":\"probity:disk\"}");
}

static const char *const tags[] = {"v2", NULL};
static const struct conf_pair meta[] = {{.name = "zone", .value = {.value = "a"}},
	{.name = "gone", .value = {.file = "/nonexistent/value"}}};
static struct register_conf registration = {
	.name = "web", .port = 8080, .tags = {tags, 1}, .meta = {meta, 2}, .weights = {10, 1}};

static void body_of_a_service(void **unused)
{
	json_t *body;

	(void)unused;
	web.registration = &registration;
	body = register_service_body(&web);
	register_add_check(body, &ready, "web", PROBE_CRITICAL);
	expect_json(body,
		"{\"ID\":\"web-1\",\"Name\":\"web\",\"Tags\":[\"v2\"],\"Meta\":{\"zone\":\"a\"},"
		"\"Weights\":{\"Passing\":10,\"Warning\":1},\"Port\":8080,\"Checks\":["
		"{\"Name\":\"ready\",\"Notes\":\"[probity:web]\",\"TTL\":\"60s\","
		"\"Status\":\"critical\",\"CheckID\":\"web-1:ready\"}]}");
}

static void reaping_is_told_with_each_check_of_a_service_of_ours(void **unused)
{
	struct register_conf reaped = registration;
	struct service_conf service = {.id = "web-1", .registration = &reaped};
	struct check_conf check = ready, same = ready;
	json_t *body;

	(void)unused;
	reaped.deregister_critical_service_after = 5400;
	check.service = &service;
	body = register_check_body(&check, "web", PROBE_PASSING);
	assert_string_equal(
		json_string_value(json_object_get(body, "DeregisterCriticalServiceAfter")),
		"5400s");
	json_decref(body);
	/* Checks on the agent are told when it changes. */
	assert_false(register_same_definition(&check, &same));
	check.node = true;
	assert_true(register_reaps_after(&check) <= 0);
}

static void expect_differs(struct register_conf conf, const char *answer, bool differs)
{
	json_t *json = json_loads(answer, 0, NULL);

	web.registration = &conf;
	assert_non_null(json);
	if (register_service_differs(&web, json) != differs)
		fail_msg("%s: %sdiffers", answer, differs ? "not " : "");
	json_decref(json);
	web.registration = &registration;
}

static void a_service_that_stands_is_compared(void **unused)
{
	const struct register_conf plain = {.name = "web", .weights = {1, 1}};

	(void)unused;
	expect_differs(registration,
		"{\"ID\":\"web-1\",\"Service\":\"web\",\"Tags\":[\"v2\"],\"Meta\":{\"zone\":\"a\"},"
		"\"Port\":8080,\"Address\":\"\",\"Weights\":{\"Passing\":10,\"Warning\":1},"
		"\"EnableTagOverride\":false,\"ContentHash\":\"x\"}",
		false);
	expect_differs(plain,
		"{\"Service\":\"web\",\"Tags\":[],\"Meta\":null,\"Port\":0,\"Address\":\"\","
		"\"Weights\":{\"Passing\":1,\"Warning\":1}}",
		false);
	expect_differs(
		plain, "{\"Service\":\"www\",\"Weights\":{\"Passing\":1,\"Warning\":1}}", true);
	expect_differs(plain,
		"{\"Service\":\"web\",\"Port\":1,\"Weights\":{\"Passing\":1,\"Warning\":1}}", true);
	expect_differs(plain,
		"{\"Service\":\"web\",\"Tags\":[\"v\"],\"Weights\":{\"Passing\":1,\"Warning\":1}}",
		true);
	expect_differs(
		plain, "{\"Service\":\"web\",\"Weights\":{\"Passing\":1,\"Warning\":0}}", true);
}

static void a_definition_is_name_notes_service_and_ttl(void **unused)
{
	struct check_conf other = ready;

	(void)unused;
	other.interval = 3;
	assert_true(register_same_definition(&ready, &other));
	other.ttl = 61;
	assert_false(register_same_definition(&ready, &other));
	other = ready;
	other.notes = "new";
	assert_false(register_same_definition(&ready, &other));
	other = ready;
	other.node = true;
	assert_false(register_same_definition(&ready, &other));
	other = ready;
	other.name = "steady";
	assert_false(register_same_definition(&ready, &other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_of_decisions),
		cmocka_unit_test(only_the_own_mark_at_the_end_counts),
		cmocka_unit_test(a_look_knows_ours_from_foreign),
		cmocka_unit_test(bodies_of_checks),
		cmocka_unit_test(body_of_a_service),
		cmocka_unit_test(reaping_is_told_with_each_check_of_a_service_of_ours),
		cmocka_unit_test(a_service_that_stands_is_compared),
		cmocka_unit_test(a_definition_is_name_notes_service_and_ttl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
