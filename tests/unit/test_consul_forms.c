// SPDX-License-Identifier: MIT
/* The forms that a call can take on the wire, as the configuration wants it. */
#include "tests/unit/consul_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/arena.h"

static char folder[] = "/tmp/probity-forms-XXXXXX";

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

static void expect_line(const char *line)
{
	assert_memory_equal(server.request, line, strlen(line));
}

static void a_note_carries_the_same_bytes(void **unused)
{
	static const struct {
		enum probe_status status;
		const char *output, *line;
	} rows[] = {
		{PROBE_PASSING, "", "PUT /v1/agent/check/pass/web-1:ready?note= HTTP/1.1\r\n"},
		{PROBE_WARNING, "a+b c&d=%2F;#?",
			"PUT /v1/agent/check/warn/web-1:ready?note="
			"a%2Bb%20c%26d%3D%252F%3B%23%3F HTTP/1.1\r\n"},
		{PROBE_CRITICAL, "\"\\\n\t\xc3\xa9",
			"PUT /v1/agent/check/fail/web-1:ready?note="
			"%22%5C%0A%09%C3%A9 HTTP/1.1\r\n"},
	};

	(void)unused;
	start("127.0.0.1", 5, NULL);
	server.reply = OK;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		consul_check_ttl(consul, "web-1:ready", rows[i].status, rows[i].output, reply);
		await();
		assert_int_equal(result, CONSUL_OK);
		expect_line(rows[i].line);
		assert_non_null(strstr(server.request, "\r\nContent-Length: 0\r\n"));
	}
	finish();
}

static void unix_sockets_are_spoken_to(void **unused)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char *path = xprintf("%s/agent.sock", folder), *shown = xprintf("unix://%s", path);

	(void)unused;
	loop = ev_default_loop(0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	listen_on((struct sockaddr *)&address, sizeof(address));
	make_consul((struct consul_conf){
		.address = {.transport = CONSUL_UNIX,
			.base = "http://localhost",
			.host = "localhost",
			.endpoint = {.path = path, .shown = shown}},
		.timeout = 5,
	});
	server.reply = OK;
	consul_check_update(consul, "a", PROBE_PASSING, "x", reply);
	await();
	assert_int_equal(result, CONSUL_OK);
	assert_non_null(strstr(server.request, "\r\nHost: localhost\r\n"));
	assert_string_equal(consul_address(consul), shown);
	finish();
	assert_int_equal(unlink(path), 0);
	free(path);
	free(shown);
}

static void a_vigil_has_a_connection_of_its_own(void **unused)
{
	double started;
	struct consul_call *vigil;

	(void)unused;
	start("127.0.0.1", 5, NULL);
	server.reply = NULL;
	vigil = consul_service_wait(consul, "web/1", "a+b", reply);
	ev_run(loop, EVRUN_ONCE);
	while (server.length == 0)
		ev_run(loop, EVRUN_ONCE);
	expect_line("GET /v1/agent/service/web%2F1?hash=a%2Bb&wait=300s HTTP/1.1\r\n");
	assert_false(consul_oldest(consul, &started)); /* it is no call that is late */
	server.reply = OK;
	for (unsigned int i = 0; i < 2 * CONSUL_CONNECTIONS; i++) {
		consul_check_ttl(consul, "a", PROBE_PASSING, "", reply);
		await();
		assert_int_equal(result, CONSUL_OK);
	}
	assert_int_equal(server.connections, 2);
	assert_true(consul_cancel(vigil));
	finish();
}

static void namespaces_are_sent_only_where_set(void **unused)
{
	char *address;

	(void)unused;
	start("127.0.0.1", 5, NULL);
	server.reply = OK;
	consul_check_ttl(consul, "a", PROBE_PASSING, "", reply);
	await();
	assert_null(strstr(server.request, "X-Consul"));
	consul_destroy(consul);
	address = xprintf("http://127.0.0.1:%u", server.port);
	make_consul((struct consul_conf){
		.address = {.base = address,
			.host = "127.0.0.1",
			.endpoint = {.host = "127.0.0.1", .port = server.port, .shown = address}},
		.namespace = "team",
		.partition = "web",
		.timeout = 5,
	});
	consul_check_ttl(consul, "a", PROBE_PASSING, "", reply);
	await();
	assert_non_null(strstr(
		server.request, "\r\nX-Consul-Namespace: team\r\nX-Consul-Partition: web\r\n"));
	finish();
	free(address);
}

static double patience;

static void on_patience(void *owner, const struct consul_answer *answer)
{
	patience = answer->retry_after;
	reply.done(owner, answer);
}

static void an_agent_may_ask_for_patience(void **unused)
{
	static const struct {
		const char *reply;
		double seconds;
	} rows[] = {
		{"HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", 7},
		{"HTTP/1.1 503 Busy\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n", 2},
		{"HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\n\r\n", 0},
		{"HTTP/1.1 200 OK\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", 0},
	};

	(void)unused;
	start("127.0.0.1", 5, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		server.reply = rows[i].reply;
		consul_check_ttl(
			consul, "a", PROBE_PASSING, "", (struct consul_reply){.done = on_patience});
		await();
		assert_true(patience >= rows[i].seconds && patience <= rows[i].seconds);
	}
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_note_carries_the_same_bytes),
		cmocka_unit_test(a_vigil_has_a_connection_of_its_own),
		cmocka_unit_test(namespaces_are_sent_only_where_set),
		cmocka_unit_test(an_agent_may_ask_for_patience),
		cmocka_unit_test(unix_sockets_are_spoken_to),
	};
	int failed;

	assert_non_null(mkdtemp(folder));
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)rmdir(folder);
	return failed;
}
