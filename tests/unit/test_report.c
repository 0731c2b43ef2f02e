// SPDX-License-Identifier: MIT
/* The report as JSON, against literal JSON. */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "runner/report.h"

static struct daemon_report daemon_now;
static struct check_report checks_now[2];
static size_t count_now;

static void get_daemon(void *owner, struct daemon_report *ret_report)
{
	assert_ptr_equal(owner, checks_now);
	*ret_report = daemon_now;
}

static size_t get_count(void *owner)
{
	assert_ptr_equal(owner, checks_now);
	return count_now;
}

static void get_check(void *owner, size_t index, struct check_report *ret_report)
{
	assert_ptr_equal(owner, checks_now);
	*ret_report = checks_now[index];
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
	" 'agent': {'address': 'http://127.0.0.1:8500', 'off': false, 'reachable': true,"          \
	"  'changed_at': null, 'problem': null, 'calls': 12, 'failures': 1}, 'checks': ["

static const char full_json[] =
	"{'id': 'web-1:ready', 'name': 'ready', 'service_id': 'web-1', 'type': 'http',"
	" 'target': 'http://127.0.0.1/ready', 'status': 'warning', 'decided': true,"
	" 'stale': false, 'output': 'HTTP 429\\nslow \\\"down\\\"', 'changed': 33.0,"
	" 'agent': {'registered': true, 'acknowledged': false, 'acknowledged_status': 'passing',"
	"  'acknowledged_at': 12.5, 'next_heartbeat_at': 7.5,"
	"  'problem': '403 Permission denied'},"
	" 'result': 'critical', 'reason': 'timed out', 'result_line': 'timed out after 2s',"
	" 'age': 0.25, 'duration': 2.0,"
	" 'phase_seconds': {'start': 0.5, 'connect': 1.5, 'receive': 0.0},"
	" 'interval': 5.0, 'timeout': 2.0, 'ttl': 60.0, 'next_run_in': 4.75, 'running': false,"
	" 'lateness': 0.004, 'max_lateness': 0.02, 'successes': 0, 'failures': 1, 'runs': 18,"
	" 'skipped_ticks': 1, 'void_runs': 2, 'timeouts': 3, 'changes': 4, 'remains': 5}";

static const char new_json[] =
	"{'id': 'probity:disk', 'name': 'disk', 'service_id': null, 'type': 'script',"
	" 'target': '/bin/true', 'status': null, 'decided': false, 'stale': false,"
	" 'output': null, 'changed': null,"
	" 'agent': {'registered': false, 'acknowledged': false, 'acknowledged_status': null,"
	"  'acknowledged_at': null, 'next_heartbeat_at': null, 'problem': null},"
	" 'result': null, 'reason': null, 'result_line': null, 'age': null, 'duration': null,"
	" 'phase_seconds': null, 'interval': 10.0, 'timeout': 10.0, 'ttl': 60.0,"
	" 'next_run_in': null, 'running': true, 'lateness': null, 'max_lateness': null,"
	" 'successes': 0, 'failures': 0, 'runs': 0, 'skipped_ticks': 0, 'void_runs': 0,"
	" 'timeouts': 0, 'changes': 0, 'remains': 0}";

/* The parts, with ' for ", are the whole report. */
static void expect_report(const char *head, const char *first, const char *second)
{
	const struct report_source source = {
		.daemon = get_daemon, .count = get_count, .check = get_check, .owner = checks_now};
	json_t *report = report_json(&source);
	char text[8192];
	json_error_t error;
	json_t *expected;
	char *found;

	(void)snprintf(
		text, sizeof(text), "%s%s%s%s]}", head, first, *second == '\0' ? "" : ",", second);
	for (char *c = text; *c != '\0'; c++) {
		if (*c == '\'')
			*c = '"';
	}
	expected = json_loads(text, 0, &error);
	if (expected == NULL)
		fail_msg("%s at %d", error.text, error.position);
	assert_non_null(report);
	found = json_dumps(report, JSON_INDENT(1));
	if (!json_equal(report, expected))
		fail_msg("the report is %s", found);
	free(found);
	json_decref(expected);
	json_decref(report);
}

static void every_fact_has_its_key(void **unused)
{
	(void)unused;
	daemon_now = plain_daemon;
	checks_now[0] = full_check;
	checks_now[1] = new_check;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fact_has_its_key),
		cmocka_unit_test(no_checks_are_an_empty_list),
		cmocka_unit_test(a_path_that_is_not_utf8_voids_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
