// SPDX-License-Identifier: MIT
/* The agent's API over real sockets: every byte sent, and what each kind of answer amounts to. */
#include "tests/unit/consul_bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/clock.h"

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define UPDATE_HEAD                                                                                \
	"PUT /v1/agent/check/update/web-1:ready HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"                \
	"User-Agent: probity/" PROBITY_VERSION "\r\nAccept: */*\r\n%s"                             \
	"Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s"

static void expect_update(const char *token, const char *body)
{
	char wanted[8192];

	(void)snprintf(wanted, sizeof(wanted), UPDATE_HEAD, server.port, token, strlen(body), body);
	assert_string_equal(server.request, wanted);
}

static void every_byte_of_an_update_is_chosen(void **unused)
{
	(void)unused;
	(void)setenv("http_proxy", "http://127.0.0.1:1", 1);
	(void)setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
	start("127.0.0.1", 5, NULL);
	server.reply = OK;
	consul_check_update(consul, "web-1:ready", PROBE_PASSING, "", reply);
	await();
	assert_int_equal(result, CONSUL_OK);
	assert_string_equal(cause, "");
	expect_update("", "{\"Status\":\"passing\",\"Output\":\"\"}");
	consul_check_update(
		consul, "web-1:ready", PROBE_CRITICAL, "a\"b\\\n\t\xc3\xa9\xef\xbf\xbd", reply);
	await();
	expect_update("",
		"{\"Status\":\"critical\",\"Output\":\"a\\\"b\\\\\\n\\t\xc3\xa9\xef\xbf\xbd\"}");
	assert_int_equal(server.connections, 1); /* kept alive */
	finish();
	(void)unsetenv("http_proxy");
	(void)unsetenv("ALL_PROXY");
}

static void expect_line(const char *line)
{
	assert_true(strncmp(server.request, line, strlen(line)) == 0);
}

static void other_calls_name_what_they_mean(void **unused)
{
	json_t *body = json_pack("{s:s}", "ID", "x");

	(void)unused;
	start("127.0.0.1", 5, NULL);
	server.reply = OK;
	consul_check_deregister(consul, "svc /a#1?", reply);
	await();
	assert_int_equal(result, CONSUL_OK);
	expect_line("PUT /v1/agent/check/deregister/svc%20%2Fa%231%3F HTTP/1.1\r\n");
	assert_non_null(strstr(server.request, "\r\nContent-Length: 0\r\n"));
	consul_check_register(consul, body, reply);
	await();
	expect_line("PUT /v1/agent/check/register HTTP/1.1\r\n");
	assert_non_null(strstr(server.request, "\r\n\r\n{\"ID\":\"x\"}"));
	consul_service_register(consul, body, reply);
	await();
	expect_line("PUT /v1/agent/service/register HTTP/1.1\r\n");
	consul_service_deregister(consul, "web/1", reply);
	await();
	expect_line("PUT /v1/agent/service/deregister/web%2F1 HTTP/1.1\r\n");
	server.reply = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"a\":1}";
	consul_service_get(consul, "web/1", reply);
	await();
	expect_line("GET /v1/agent/service/web%2F1 HTTP/1.1\r\n");
	assert_int_equal(json_integer_value(json_object_get(json, "a")), 1);
	consul_checks_get(consul, NULL, reply);
	await();
	expect_line("GET /v1/agent/checks HTTP/1.1\r\n");
	consul_checks_get(consul, "a", reply);
	await();
	expect_line("GET /v1/agent/checks?filter=CheckID%20%3D%3D%20%22a%22 HTTP/1.1\r\n");
	json_decref(body);
	finish();
}

/* With GET or PUT: what the bytes of an answer amount to. */
static const struct {
	const char *reply;
	bool get, closes;
	enum consul_result result;
	const char *cause; /* its beginning */
} answers[] = {
	{"HTTP/1.1 403 Forbidden\r\nContent-Length: 17\r\n\r\nPermission denied", false, false,
		CONSUL_FORBIDDEN, "403 Permission denied"},
	{"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", true, false, CONSUL_NOT_FOUND,
		"404"},
	{"HTTP/1.1 400 Bad Request\r\nContent-Length: 3\r\n\r\nbad", false, false, CONSUL_BAD,
		"400 bad"},
	{"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops", false, false, CONSUL_FAILED,
		"500 oops"},
	{"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/v1\r\nContent-Length: 0\r\n\r\n",
		false, false, CONSUL_BAD, "307, a redirect"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", false, true, CONSUL_ABANDONED, ""},
	{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", true, true, CONSUL_ABANDONED, ""},
	{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{]x", true, false, CONSUL_FAILED,
		"200 with an unreadable"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", true, false, CONSUL_FAILED,
		"200 with an unreadable"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true, false, CONSUL_FAILED,
		"200 with an unreadable"},
	{"220 mail ESMTP\r\n", false, true, CONSUL_ABANDONED, ""},
	{"\x15\x03\x01\x00\x02\x02\x16", false, true, CONSUL_ABANDONED, ""},
	{"", false, true, CONSUL_ABANDONED, ""},
	{NULL, false, false, CONSUL_ABANDONED, "no answer within 0.4s"},
};

static void each_kind_of_answer_has_its_result(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		start("127.0.0.1", 0.4, NULL);
		server.reply = answers[i].reply != NULL && *answers[i].reply == '\0'
			? NULL
			: answers[i].reply;
		server.closes = answers[i].closes;
		if (answers[i].get)
			consul_service_get(consul, "web-1", reply);
		else
			consul_check_update(consul, "web-1:ready", PROBE_PASSING, "x", reply);
		await();
		if (result != answers[i].result ||
			strncmp(cause, answers[i].cause, strlen(answers[i].cause)) != 0 ||
			*cause == '\0')
			fail_msg("answer %zu: result %d, \"%s\"", i, result, cause);
		finish();
	}
}

static void an_endless_answer_is_cut_off(void **unused)
{
	char *page = xcalloc(20000, 1);

	(void)unused;
	memset(page, 'x', 19999);
	memcpy(page, "HTTP/1.1 500 Oops\r\n\r\n", strlen("HTTP/1.1 500 Oops\r\n\r\n"));
	start("127.0.0.1", 5, NULL);
	server.reply = page;
	consul_check_update(consul, "web-1:ready", PROBE_PASSING, "x", reply);
	await();
	assert_int_equal(result, CONSUL_FAILED);
	assert_string_equal(cause, "an answer that is too long");
	finish();
	free(page);
}

static void nobody_there_is_refused_not_abandoned(void **unused)
{
	double begin;

	(void)unused;
	start("127.0.0.1", 5, NULL);
	ev_io_stop(loop, &server.accepting);
	(void)close(server.listener);
	server.listener = -1;
	consul_check_update(consul, "web-1:ready", PROBE_PASSING, "x", reply);
	await();
	assert_int_equal(result, CONSUL_REFUSED);
	assert_string_equal(cause, "Connection refused");
	finish();
	/* An address that swallows connects: documentation, RFC 5737. May be unroutable at once. */
	start("192.0.2.1", 0.4, NULL);
	begin = clock_monotonic();
	consul_check_update(consul, "web-1:ready", PROBE_PASSING, "x", reply);
	await();
	assert_int_equal(result, CONSUL_REFUSED);
	assert_true(clock_monotonic() - begin < 0.8);
	finish();
}

static void cancelled_calls_say_if_they_were_sent(void **unused)
{
	struct consul_call *call;

	(void)unused;
	start("127.0.0.1", 5, NULL);
	call = consul_check_update(consul, "a", PROBE_PASSING, "x", reply);
	assert_false(consul_cancel(call));
	call = consul_check_update(consul, "a", PROBE_PASSING, "x", reply);
	while (server.requests == 0)
		ev_run(loop, EVRUN_ONCE);
	assert_true(consul_cancel(call));
	call = consul_check_update(consul, "a", PROBE_PASSING, "x", reply);
	finish(); /* ends what is under way */
}

static void the_oldest_call_under_way_is_known(void **unused)
{
	struct consul_call *first, *second;
	double begun = clock_monotonic(), oldest, newer;

	(void)unused;
	start("127.0.0.1", 5, NULL);
	assert_false(consul_oldest(consul, &oldest));
	first = consul_check_update(consul, "a", PROBE_PASSING, "x", reply);
	assert_true(consul_oldest(consul, &oldest));
	assert_true(oldest >= begun && oldest <= clock_monotonic());
	(void)usleep(2000);
	second = consul_check_update(consul, "b", PROBE_PASSING, "x", reply);
	assert_true(consul_oldest(consul, &newer));
	assert_true(newer >= oldest && newer <= oldest);
	(void)consul_cancel(first);
	assert_true(consul_oldest(consul, &newer));
	assert_true(newer >= oldest + 0.002);
	(void)consul_cancel(second);
	assert_false(consul_oldest(consul, &oldest));
	finish();
}

static void names_are_never_left_to_libcurl(void **unused)
{
	(void)unused;
	resolved = "both";
	start("agent.test", 5, NULL);
	server.reply = OK;
	consul_check_update(consul, "a", PROBE_PASSING, "x", reply);
	await();
	assert_int_equal(result, CONSUL_OK); /* the first address is dead */
	assert_non_null(strstr(server.request, "\r\nHost: agent.test:"));
	finish();
	resolved = "";
	start("agent.test", 5, NULL);
	consul_check_update(consul, "a", PROBE_PASSING, "x", reply);
	await();
	assert_int_equal(result, CONSUL_REFUSED);
	assert_string_equal(cause, "cannot resolve agent.test: no such name");
	finish();
}

static char folder[] = "/tmp/probity-consul-XXXXXX";

static void write_token(const char *path, const char *text)
{
	char *fresh = xprintf("%s.new", path);
	FILE *file = fopen(fresh, "w");

	assert_non_null(file);
	(void)fputs(text, file);
	(void)fclose(file);
	assert_int_equal(rename(fresh, path), 0);
	free(fresh);
}

static void token_is_read_again_when_its_file_changes(void **unused)
{
	char *path = xprintf("%s/token", folder);

	(void)unused;
	token_changes = 0;
	write_token(path, "first\n");
	start("127.0.0.1", 5, path);
	server.reply = OK;
	consul_check_update(consul, "web-1:ready", PROBE_PASSING, "x", reply);
	await();
	expect_update("X-Consul-Token: first\r\n", "{\"Status\":\"passing\",\"Output\":\"x\"}");
	consul_refresh(consul, false);
	consul_refresh(consul, true);
	assert_int_equal(token_changes, 0);
	write_token(path, "second");
	consul_refresh(consul, false);
	assert_int_equal(token_changes, 1);
	consul_check_update(consul, "web-1:ready", PROBE_PASSING, "x", reply);
	await();
	expect_update("X-Consul-Token: second\r\n", "{\"Status\":\"passing\",\"Output\":\"x\"}");
	/* One that cannot be read leaves the old one in force. */
	assert_int_equal(unlink(path), 0);
	consul_refresh(consul, false);
	write_token(path, "evil\r\nX-Other: 1");
	consul_refresh(consul, false);
	assert_int_equal(token_changes, 1);
	consul_check_update(consul, "web-1:ready", PROBE_PASSING, "x", reply);
	await();
	expect_update("X-Consul-Token: second\r\n", "{\"Status\":\"passing\",\"Output\":\"x\"}");
	finish();
	assert_int_equal(unlink(path), 0);
	free(path);
}

static void without_its_token_nothing_is_sent(void **unused)
{
	char *path = xprintf("%s/absent", folder);

	(void)unused;
	token_changes = 0;
	start("127.0.0.1", 5, path);
	server.reply = OK;
	consul_check_update(consul, "web-1:ready", PROBE_PASSING, "x", reply);
	await();
	assert_int_equal(result, CONSUL_FORBIDDEN);
	assert_non_null(strstr(cause, "No such file or directory"));
	assert_int_equal(server.requests, 0);
	write_token(path, "come");
	consul_refresh(consul, false);
	assert_int_equal(token_changes, 1);
	consul_check_update(consul, "web-1:ready", PROBE_PASSING, "x", reply);
	await();
	assert_int_equal(result, CONSUL_OK);
	finish();
	assert_int_equal(unlink(path), 0);
	free(path);
}

static void calls_go_out_when_descriptors_are_out(void **unused)
{
	int taken[256];
	size_t count = 0;
	struct rlimit limit, tight = {.rlim_cur = 64};

	(void)unused;
	start("127.0.0.1", 5, NULL);
	/* libcurl closes at once, so that others could take the descriptor. */
	server.reply = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
	server.closes = true;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	tight.rlim_max = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
	for (int i = 0; i < 20; i++) {
		/* Everything but one, which our own server needs to accept. */
		while (count < 256 && (taken[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
			count++;
		(void)close(taken[--count]);
		consul_check_update(consul, "web-1:ready", PROBE_PASSING, "x", reply);
		await();
		if (result != CONSUL_OK)
			fail_msg("call %d: %d %s", i, result, cause);
	}
	while (count > 0)
		(void)close(taken[--count]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_of_an_update_is_chosen),
		cmocka_unit_test(other_calls_name_what_they_mean),
		cmocka_unit_test(each_kind_of_answer_has_its_result),
		cmocka_unit_test(an_endless_answer_is_cut_off),
		cmocka_unit_test(nobody_there_is_refused_not_abandoned),
		cmocka_unit_test(cancelled_calls_say_if_they_were_sent),
		cmocka_unit_test(the_oldest_call_under_way_is_known),
		cmocka_unit_test(names_are_never_left_to_libcurl),
		cmocka_unit_test(token_is_read_again_when_its_file_changes),
		cmocka_unit_test(without_its_token_nothing_is_sent),
		cmocka_unit_test(calls_go_out_when_descriptors_are_out),
	};
	int failed;

	assert_non_null(mkdtemp(folder));
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)rmdir(folder);
	return failed;
}
