// SPDX-License-Identifier: MIT
/* The report as JSON, against literal JSON. */
#include "tests/unit/unit.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runner/report.h"

static struct daemon_report daemon_now;
static struct check_report first_now, second_now;
static size_t count_now;

static void get_daemon(void *owner, struct daemon_report *ret_report)
{
	assert_ptr_equal(owner, &count_now);
	*ret_report = daemon_now;
}

static size_t get_count(void *owner, enum report_list list)
{
	assert_ptr_equal(owner, &count_now);
	return list == REPORT_CHECKS ? count_now : 0;
}

static void get_check(
	void *owner, enum report_list list, size_t index, struct check_report *ret_report)
{
	assert_ptr_equal(owner, &count_now);
	assert_int_equal(list, REPORT_CHECKS);
	*ret_report = index == 0 ? first_now : second_now;
}

static const struct daemon_report plain_daemon = {
	.version = "1.2.3",
	.config = "/etc/probity/web.yaml",
	.instance = "web",
	.pid = 4711,
	.uptime = 90.5,
	.stalls = 2,
	.reloads = 3,
	.agent = {.reachable = true,
		.changed_at = -1,
		.address = "http://127.0.0.1:8500",
		.calls = 12,
		.failures = 1},
};

static struct measure two_values[] = {
	{.name = (char[]){"load1"}, .value = 0.5, .unit = (char[]){""}},
	{.name = (char[]){"users"}, .value = NAN, .unit = (char[]){"c"}},
};
static const struct measures values = {.items = two_values, .count = 2};

/* A check that has decided and was heard. */
static const struct check_report full_check = {
	.id = "web-1:ready",
	.name = "ready",
	.service_id = "web-1",
	.type = "http",
	.target = "http://127.0.0.1/ready",
	.decided = true,
	.status = PROBE_WARNING,
	.output = "HTTP 429\nslow \"down\"",
	.has_result = true,
	.result = PROBE_CRITICAL,
	.reason = REASON_TIMEOUT,
	.result_line = "timed out after 2s",
	.values = &values,
	.age = 0.25,
	.duration = 2.0000004,
	.phase_seconds = {[PHASE_START] = 0.5,
		[PHASE_RESOLVE] = -1,
		[PHASE_CONNECT] = 1.5,
		[PHASE_TLS] = -1,
		[PHASE_SEND] = -1,
		[PHASE_RECEIVE] = 0,
		[PHASE_RUN] = -1},
	.interval = 5,
	.timeout = 2,
	.ttl = 60,
	.next_run_in = 4.75,
	.running = false,
	.lateness = 0.004,
	.max_lateness = 0.02,
	.successes = 0,
	.failures = 1,
	.runs = 18,
	.skipped_ticks = 1,
	.void_runs = 2,
	.timeouts = 3,
	.changes = 4,
	.remains = 5,
	.changed = 33,
	.agent = {.registered = true,
		.acknowledged = false,
		.ever_acknowledged = true,
		.acknowledged_status = PROBE_PASSING,
		.acknowledged_at = 12.5,
		.next_heartbeat_at = 7.5,
		.problem = "403 Permission denied"},
};

/* A check that has not run yet. */
static const struct check_report new_check = {
	.id = "probity:disk",
	.name = "disk",
	.type = "script",
	.target = "/bin/true",
	.age = -1,
	.duration = -1,
	.interval = 10,
	.timeout = 10,
	.ttl = 60,
	.next_run_in = -1,
	.running = true,
	.lateness = -1,
	.max_lateness = -1,
	.changed = -1,
	.agent = {.acknowledged_at = -1, .next_heartbeat_at = -1},
};

#define DAEMON(config, reload_error)                                                               \
	"{'version': '1.2.3', 'config': '" config "', 'instance': 'web', 'pid': 4711,"             \
	" 'uptime': 90.5, 'stalls': 2, 'reloads': 3, 'reload_error': " reload_error ","            \
	" 'left_out': [],"                                                                         \
	" 'agent': {'address': 'http://127.0.0.1:8500', 'off': false, 'reachable': true,"          \
	"  'changed_at': null, 'problem': null, 'read_back': null, 'calls': 12, 'failures': 1}, "  \
	"'checks': ["

static const char full_json[] =
	"{'id': 'web-1:ready', 'name': 'ready', 'service_id': 'web-1', 'type': 'http',"
	" 'target': 'http://127.0.0.1/ready', 'members': null, 'status': 'warning', 'decided': "
	"true,"
	" 'stale': false, 'output': 'HTTP 429\\nslow \\\"down\\\"', 'changed': 33.0,"
	" 'agent': {'registered': true, 'acknowledged': false, 'acknowledged_status': 'passing',"
	"  'acknowledged_at': 12.5, 'next_heartbeat_at': 7.5,"
	"  'problem': '403 Permission denied'},"
	" 'result': 'critical', 'reason': 'timed out', 'result_line': 'timed out after 2s',"
	" 'values': [{'name': 'load1', 'value': 0.5, 'unit': ''},"
	"  {'name': 'users', 'value': null, 'unit': 'c'}], 'age': 0.25, 'duration': 2.0,"
	" 'phase_seconds': {'start': 0.5, 'connect': 1.5, 'receive': 0.0},"
	" 'interval': 5.0, 'timeout': 2.0, 'ttl': 60.0, 'next_run_in': 4.75, 'running': false,"
	" 'lateness': 0.004, 'max_lateness': 0.02, 'successes': 0, 'failures': 1, 'runs': 18,"
	" 'skipped_ticks': 1, 'void_runs': 2, 'timeouts': 3, 'changes': 4, 'remains': 5}";

static const char new_json[] =
	"{'id': 'probity:disk', 'name': 'disk', 'service_id': null, 'type': 'script',"
	" 'target': '/bin/true', 'members': null, 'status': null, 'decided': false, 'stale': false,"
	" 'output': null, 'changed': null,"
	" 'agent': {'registered': false, 'acknowledged': false, 'acknowledged_status': null,"
	"  'acknowledged_at': null, 'next_heartbeat_at': null, 'problem': null},"
	" 'result': null, 'reason': null, 'result_line': null, 'values': null, 'age': null, "
	"'duration': null,"
	" 'phase_seconds': null, 'interval': 10.0, 'timeout': 10.0, 'ttl': 60.0,"
	" 'next_run_in': null, 'running': true, 'lateness': null, 'max_lateness': null,"
	" 'successes': 0, 'failures': 0, 'runs': 0, 'skipped_ticks': 0, 'void_runs': 0,"
	" 'timeouts': 0, 'changes': 0, 'remains': 0}";

static struct report_source make_source(void)
{
	return (struct report_source){
		.daemon = get_daemon, .count = get_count, .check = get_check, .owner = &count_now};
}

/* All of a report, read in steps of so many bytes. */
static void read_report(char *text, size_t size, size_t step)
{
	const struct report_source source = make_source();
	struct report *report = report_create(&source);
	size_t used = 0;
	ssize_t count;

	do {
		assert_true(used + step < size);
		count = report_read(report, text + used, step);
		assert_in_range(count, 0, step);
		used += (size_t)count;
	} while (count > 0);
	assert_int_equal(report_read(report, text + used, step), 0); /* the end stays the end */
	text[used] = '\0';
	report_destroy(report);
}

/* The parts, with ' for ", are the whole report. */
static void expect_report(const char *head, const char *first, const char *second)
{
	static const size_t steps[] = {1, 7, 1000, 16000};
	char text[32000], found[32000];
	json_t *expected, *report;
	json_error_t error;

	(void)snprintf(text, sizeof(text), "%s%s%s%s],'probes': []}", head, first,
		*second == '\0' ? "" : ",", second);
	for (char *c = text; *c != '\0'; c++) {
		if (*c == '\'')
			*c = '"';
	}
	expected = json_loads(text, 0, &error);
	if (expected == NULL)
		fail_msg("%s at %d", error.text, error.position);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		read_report(found, sizeof(found), steps[i]);
		report = json_loads(found, JSON_REJECT_DUPLICATES, &error);
		if (!json_equal(report, expected))
			fail_msg("the report is %s", found);
		json_decref(report);
	}
	json_decref(expected);
}

static void every_fact_has_its_key(void **unused)
{
	(void)unused;
	daemon_now = plain_daemon;
	first_now = full_check;
	second_now = new_check;
	count_now = 2;
	expect_report(DAEMON("/etc/probity/web.yaml", "null"), full_json, new_json);
}

static void no_checks_are_an_empty_list(void **unused)
{
	(void)unused;
	daemon_now = plain_daemon;
	daemon_now.reload_error = "web.yaml:1:1: error: no";
	count_now = 0;
	expect_report(DAEMON("/etc/probity/web.yaml", "'web.yaml:1:1: error: no'"), "", "");
}

static void a_path_that_is_not_utf8_voids_nothing(void **unused)
{
	(void)unused;
	daemon_now = plain_daemon;
	daemon_now.config = "/etc/pr\xf6"
			    "bity.yaml";
	count_now = 0;
	expect_report(DAEMON("/etc/pr\xef\xbf\xbd"
			     "bity.yaml",
			      "null"),
		"", "");
}

static void numbers_have_no_more_digits_than_were_measured(void **unused)
{
	char text[8192];

	(void)unused;
	daemon_now = plain_daemon;
	daemon_now.uptime = 0.1 + 0.2;
	count_now = 0;
	read_report(text, sizeof(text), 4096);
	assert_non_null(strstr(text, "\"uptime\":0.3,"));
}

/* The indexes mean other checks then. */
static void a_reload_amid_a_report_cuts_it(void **unused)
{
	const struct report_source source = make_source();
	struct report *report;
	char bytes[64];
	ssize_t length;

	(void)unused;
	daemon_now = plain_daemon;
	first_now = full_check;
	count_now = 1;
	report = report_create(&source);
	assert_int_equal(report_read(report, bytes, sizeof(bytes)), sizeof(bytes));
	daemon_now.reloads++;
	while ((length = report_read(report, bytes, sizeof(bytes))) > 0)
		continue; /* the piece that was there */
	assert_int_equal(length, -1);
	assert_int_equal(report_read(report, bytes, sizeof(bytes)), -1);
	report_destroy(report);
	report_destroy(NULL);
}

static void a_reload_after_the_last_row_cuts_nothing(void **unused)
{
	const struct report_source source = make_source();
	struct report *report;
	char bytes[8192];
	ssize_t length;

	(void)unused;
	daemon_now = plain_daemon;
	first_now = full_check;
	count_now = 1;
	report = report_create(&source);
	length = report_read(report, bytes, sizeof(bytes));
	assert_in_range(length, 500, sizeof(bytes) - 1);
	assert_memory_equal(bytes + length - 15, "}],\"probes\":[]}", 15);
	daemon_now.reloads++;
	assert_int_equal(report_read(report, bytes, sizeof(bytes)), 0);
	report_destroy(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fact_has_its_key),
		cmocka_unit_test(no_checks_are_an_empty_list),
		cmocka_unit_test(a_path_that_is_not_utf8_voids_nothing),
		cmocka_unit_test(numbers_have_no_more_digits_than_were_measured),
		cmocka_unit_test(a_reload_amid_a_report_cuts_it),
		cmocka_unit_test(a_reload_after_the_last_row_cuts_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
