// SPDX-License-Identifier: MIT
/* The control socket under kind, silent, greedy and slow clients. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "runner/control.h"

#define ANSWER_MOST (8U << 20)
/* Bounds no test should come near: a pass that blocks takes longer than that. */
#define PASS_MOST 0.3
#define GIVE_UP 10.0 /* s */

static char dir[64];
static struct ev_loop *loop;
static struct control *control;
static size_t check_count;
static unsigned int reports; /* times that it was asked of the daemon */
static unsigned long reloads;
static char output[4097];
static double longest_pass;

static void get_daemon(void *owner, struct daemon_report *ret_report)
{
	(void)owner;
	reports++;
	*ret_report = (struct daemon_report){.version = "1",
		.config = "c",
		.instance = "i",
		.reloads = reloads,
		.agent = {.address = "a"}};
}

static size_t get_count(void *owner, enum report_list list)
{
	(void)owner;
	return list == REPORT_CHECKS ? check_count : 0;
}

static void get_check(
	void *owner, enum report_list list, size_t index, struct check_report *ret_report)
{
	(void)owner;
	(void)list;
	(void)index;
	*ret_report = (struct check_report){
		.id = "web-1:ready",
		.name = "ready",
		.service_id = "web-1",
		.type = "http",
		.target = "http://127.0.0.1:8080/ready",
		.decided = true,
		.output = output,
	};
}

static double read_clock(clockid_t id)
{
	struct timespec time;

	(void)clock_gettime(id, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static int start(void **unused)
{
	const struct report_source source = {
		.daemon = get_daemon, .count = get_count, .check = get_check};
	char *error = NULL;

	(void)unused;
	(void)signal(SIGPIPE, SIG_IGN); /* as the daemon does */
	(void)snprintf(dir, sizeof(dir), "/tmp/probity-control-XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -1;
	loop = ev_loop_new(0);
	check_count = 1;
	reports = 0;
	longest_pass = 0;
	control = control_create(loop, dir, &source, &error);
	if (control == NULL)
		fail_msg("%s", error);
	return 0;
}

static int stop(void **unused)
{
	(void)unused;
	control_destroy(control);
	ev_loop_destroy(loop);
	return rmdir(dir); /* fails if the socket is still there */
}

static int dial(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/control.sock", dir);
	assert_true(fd >= 0);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
		fail_msg("connect: %s", strerror(errno));
	return fd;
}

static void say(int fd, const char *request)
{
	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
}

/* One pass of the loop, at most 10 ms of waiting. */
static void on_pulse(struct ev_loop *pulse_loop, ev_timer *watcher, int events)
{
	(void)pulse_loop;
	(void)watcher;
	(void)events;
}

static void pass(void)
{
	double began, spent;
	ev_timer pulse;

	ev_timer_init(&pulse, on_pulse, 0.01, 0);
	ev_now_update(loop);
	ev_timer_start(loop, &pulse);
	began = read_clock(CLOCK_PROCESS_CPUTIME_ID); /* others on the machine are not our fault */
	ev_run(loop, EVRUN_ONCE);
	spent = read_clock(CLOCK_PROCESS_CPUTIME_ID) - began;
	longest_pass = spent > longest_pass ? spent : longest_pass;
	ev_timer_stop(loop, &pulse);
}

/* Reads until the other side closes; what came, terminated. */
static const char *hear(int fd)
{
	static char answer[ANSWER_MOST];
	double end = now() + GIVE_UP;
	size_t used = 0;
	ssize_t count;

	for (;;) {
		count = recv(fd, answer + used, sizeof(answer) - 1 - used, 0);
		if (count > 0)
			used += (size_t)count;
		else if (count == 0 || errno != EAGAIN)
			break;
		else
			pass();
		if (now() > end)
			fail_msg("no end of the answer after %zu bytes", used);
	}
	answer[used] = '\0';
	(void)close(fd);
	return answer;
}

static const char *ask(const char *request)
{
	int fd = dial();

	say(fd, request);
	return hear(fd);
}

#define REST " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

static void expect(const char *answer, const char *begin, const char *part)
{
	if (strncmp(answer, begin, strlen(begin)) != 0 || strstr(answer, part) == NULL)
		fail_msg("%.300s", answer);
}

static void requests_are_answered_or_refused(void **unused)
{
	const char *answer;

	(void)unused;
	answer = ask("GET /v1/status" REST);
	expect(answer, "HTTP/1.1 200", "{\"version\":\"1\",\"config\":\"c\",");
	assert_non_null(strstr(answer, "Content-Type: application/json\r\n"));
	answer = ask("HEAD /v1/status" REST);
	expect(answer, "HTTP/1.1 200", "application/json");
	assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
	expect(ask("GET /v1/statuses" REST), "HTTP/1.1 404", "{\"error\":\"no such path");
	expect(ask("GET /" REST), "HTTP/1.1 404", "{\"error\":");
	answer = ask("PUT /v1/status HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
	expect(answer, "HTTP/1.1 405", "{\"error\":\"only GET and HEAD");
	assert_non_null(strstr(answer, "Allow: GET, HEAD\r\n"));
	expect(ask("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n"),
		"HTTP/1.1 405", "error");
}

static void a_large_request_is_refused(void **unused)
{
	char *request = malloc(70000);
	int length;

	(void)unused;
	assert_non_null(request);
	length = snprintf(request, 70000, "GET /v1/status HTTP/1.1\r\nHost: x\r\nX: %060000d", 7);
	assert_in_range(length, 60000, 69000);
	expect(ask(request), "HTTP/1.1 4", "");
	assert_int_equal(reports, 0);
	free(request);
	expect(ask("GET /v1/status" REST), "HTTP/1.1 200", "");
}

static void rubbish_is_survived(void **unused)
{
	static const char *const requests[] = {
		"\r\n\r\n\r\n",
		"GET\r\n\r\n",
		"\x16\x03\x01\x02",
		"GET /v1/status HTTP/9.9\r\n\r\n",
		"get /v1/status HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /%00%ff%2e%2e HTTP/1.1\r\n\r\n",
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		int fd = dial();

		say(fd, requests[i]);
		for (int n = 0; n < 3; n++)
			pass();
		(void)close(fd);
	}
	expect(ask("GET /v1/status" REST), "HTTP/1.1 200", "");
}

/* How often the loop wakes up in 0.3 s. */
static unsigned int wakeups(void)
{
	double end = now() + 0.3;
	unsigned int before = ev_iteration(loop);

	while (now() < end)
		pass();
	return ev_iteration(loop) - before;
}

static void silent_clients_cost_nothing(void **unused)
{
	int clients[16];

	(void)unused;
	for (size_t i = 0; i < sizeof(clients) / sizeof(*clients); i++) {
		clients[i] = dial();
		if (i % 2 == 0)
			say(clients[i], "GET /v1/sta");
	}
	pass();
	assert_in_range(wakeups(), 1, 60); /* 30 by our own pulse */
	for (size_t i = 0; i < sizeof(clients) / sizeof(*clients); i++)
		(void)close(clients[i]);
	assert_int_equal(reports, 0);
	expect(ask("GET /v1/status" REST), "HTTP/1.1 200", "");
}

/* Beyond the limit they wait, without a loop that turns on the listening socket. */
static void clients_beyond_the_limit_wait(void **unused)
{
	int clients[16], waiting;

	(void)unused;
	for (size_t i = 0; i < sizeof(clients) / sizeof(*clients); i++) {
		clients[i] = dial();
		pass();
	}
	waiting = dial();
	say(waiting, "GET /v1/status" REST);
	assert_in_range(wakeups(), 1, 60);
	assert_int_equal(reports, 0);
	for (size_t i = 0; i < sizeof(clients) / sizeof(*clients); i++)
		(void)close(clients[i]);
	expect(hear(waiting), "HTTP/1.1 200", "");
}

static void many_at_once_are_all_answered(void **unused)
{
	int clients[16];

	(void)unused;
	check_count = 100;
	for (size_t i = 0; i < sizeof(clients) / sizeof(*clients); i++) {
		clients[i] = dial();
		say(clients[i], "GET /v1/status" REST);
	}
	for (size_t i = 0; i < sizeof(clients) / sizeof(*clients); i++)
		expect(hear(clients[i]), "HTTP/1.1 200", "\"remains\":0}],\"probes\":[]}");
	assert_true(longest_pass < PASS_MOST);
}

/* A reload amid the answer: the client learns that it has not got all. */
static void an_answer_that_is_cut_has_no_end(void **unused)
{
	const char *answer;
	int client = dial();

	(void)unused;
	check_count = 1000;
	say(client, "GET /v1/status" REST);
	while (reports < 3)
		pass();
	reloads++;
	answer = hear(client);
	expect(answer, "HTTP/1.1 200", "Transfer-Encoding: chunked");
	assert_null(strstr(answer, "\r\n0\r\n"));
	answer = ask("GET /v1/status" REST);
	assert_non_null(strstr(answer, "\r\n0\r\n"));
}

static void a_thousand_checks_block_no_pass(void **unused)
{
	const char *answer;

	(void)unused;
	memset(output, 'o', sizeof(output) - 1);
	check_count = 1000;
	answer = ask("GET /v1/status" REST);
	expect(answer, "HTTP/1.1 200", "");
	assert_true(strlen(answer) > 4000000);
	print_message("%zu bytes for 1,000 checks: a pass took at most %.1f ms of CPU\n",
		strlen(answer), longest_pass * 1000);
	memset(output, '\0', sizeof(output));
	assert_true(longest_pass < PASS_MOST);
}

static void a_client_that_does_not_read_blocks_nobody(void **unused)
{
	int clients[8];

	(void)unused;
	memset(output, 'o', sizeof(output) - 1);
	check_count = 300;
	for (size_t i = 0; i < sizeof(clients) / sizeof(*clients); i++) {
		clients[i] = dial();
		say(clients[i], "GET /v1/status" REST);
	}
	for (int n = 0; n < 10; n++)
		pass();
	assert_in_range(wakeups(), 1, 60);
	assert_true(longest_pass < PASS_MOST);
	expect(ask("GET /v1/status" REST), "HTTP/1.1 200", "");
	(void)close(clients[0]); /* in the middle of its answer */
	expect(hear(clients[1]), "HTTP/1.1 200", "\"remains\":0}],\"probes\":[]}");
	memset(output, '\0', sizeof(output));
	for (size_t i = 2; i < sizeof(clients) / sizeof(*clients); i++)
		(void)close(clients[i]);
}

static void a_stop_amid_answers_is_clean(void **unused)
{
	int client;

	(void)unused;
	memset(output, 'o', sizeof(output) - 1);
	check_count = 300;
	client = dial();
	say(client, "GET /v1/status" REST);
	for (int n = 0; n < 5; n++)
		pass();
	memset(output, '\0', sizeof(output));
	(void)close(client);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(requests_are_answered_or_refused),
		CASE(a_large_request_is_refused),
		CASE(rubbish_is_survived),
		CASE(silent_clients_cost_nothing),
		CASE(clients_beyond_the_limit_wait),
		CASE(many_at_once_are_all_answered),
		CASE(an_answer_that_is_cut_has_no_end),
		CASE(a_thousand_checks_block_no_pass),
		CASE(a_client_that_does_not_read_blocks_nobody),
		CASE(a_stop_amid_answers_is_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
