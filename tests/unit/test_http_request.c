// SPDX-License-Identifier: MIT
/* Exactly what goes over the wire, byte by byte. */
#include "unit.h"

#include <arpa/inet.h>
#include <ev.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/curlev.h"
#include "probes/http_request.h"

#define AGENT "User-Agent: probity/" PROBITY_VERSION "\r\n"

static const char answer[] = "HTTP/1.1 204 No Content\r\n\r\n";

/* Takes one request and says that there is nothing. */
struct server {
	int listener;
	unsigned int port;
	char request[4096];
	pthread_t thread;
};

static void *serve(void *data)
{
	struct server *server = data;
	int fd = accept(server->listener, NULL, NULL);
	size_t length = 0;
	ssize_t got;

	/* A body of these tests comes in the same segment as its headers. */
	while (strstr(server->request, "\r\n\r\n") == NULL &&
		(got = recv(fd, server->request + length, sizeof(server->request) - 1 - length,
			 0)) > 0)
		length += (size_t)got;
	(void)send(fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL);
	(void)close(fd);
	return NULL;
}

static void start_server(struct server *server)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);

	*server = (struct server){.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	assert_return_code(bind(server->listener, (struct sockaddr *)&address, length), 0);
	assert_return_code(listen(server->listener, 1), 0);
	assert_return_code(getsockname(server->listener, (struct sockaddr *)&address, &length), 0);
	server->port = ntohs(address.sin_port);
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

/* What a request looks like on the wire, with PORT in place of the port. free(). */
static char *sent(struct http_request *request, const char *path)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	struct curlev *curlev = curlev_create(loop, 0);
	CURL *easy = curlev_easy(curlev);
	struct http_place place = {0};
	struct server server;
	char port[16], *text, *at, *masked;

	start_server(&server);
	text = xprintf("http://127.0.0.1:%u%s", server.port, path);
	assert_true(http_place_parse(text, NULL, &place, NULL));
	request->place = &place;
	http_request_apply(easy, request);
	assert_int_equal(curl_easy_perform(easy), CURLE_OK);
	(void)pthread_join(server.thread, NULL);
	(void)close(server.listener);
	curlev_give_back(curlev, easy);
	curlev_destroy(curlev);
	ev_loop_destroy(loop);
	http_place_finish(&place);
	free(text);
	(void)snprintf(port, sizeof(port), ":%u", server.port);
	at = strstr(server.request, port);
	assert_non_null(at);
	masked = xprintf(
		"%.*s:PORT%s", (int)(at - server.request), server.request, at + strlen(port));
	return masked;
}

static void expect(struct http_request *request, const char *path, const char *wanted)
{
	char *text = sent(request, path);

	assert_string_equal(text, wanted);
	free(text);
}

static void test_a_plain_get(void **state)
{
	const struct http_conf conf = {.method = "GET"};
	struct http_request request;

	(void)state;
	assert_null(http_request_init(&request, &conf));
	expect(&request, "/api/%2F/../x?x=%20a#f",
		"GET /api/%2F/../x?x=%20a HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n" AGENT
		"Accept: */*\r\n\r\n");
	http_request_finish(&request);
}

static void test_environment_changes_nothing(void **state)
{
	static const char *const names[] = {
		"http_proxy", "https_proxy", "all_proxy", "ALL_PROXY", "HTTP_PROXY"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		(void)setenv(names[i], "http://127.0.0.1:1", 1);
	test_a_plain_get(state);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		(void)unsetenv(names[i]);
}

static const struct conf_pair pairs[] = {
	{"Authorization", {.value = "S3CRET", .prefix = "Bearer "}},
	{"X-Empty", {.value = "", .prefix = ""}},
	{"Content-Type", {.value = "application/json", .prefix = ""}},
	{"Accept", {.value = "application/json", .prefix = ""}},
};

static void test_a_post_with_headers(void **state)
{
	const struct http_conf conf = {
		.method = "POST", .body = "{\"a\": 1}", .headers = {.items = pairs, .count = 4}};
	struct http_request request;

	(void)state;
	assert_null(http_request_init(&request, &conf));
	expect(&request, "/selftest",
		"POST /selftest HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n" AGENT
		"Authorization: Bearer S3CRET\r\nX-Empty:\r\nContent-Type: application/json\r\n"
		"Accept: application/json\r\nContent-Length: 8\r\n\r\n{\"a\": 1}");
	/* After a redirect that took the body away, and one to another host. */
	request.method = "GET";
	request.bare = true;
	expect(&request, "/",
		"GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n" AGENT
		"Authorization: Bearer S3CRET\r\nX-Empty:\r\nAccept: application/json\r\n\r\n");
	request.abroad = true;
	expect(&request, "/",
		"GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n" AGENT
		"Accept: application/json\r\n\r\n");
	http_request_finish(&request);
}

static void test_bodies_and_methods(void **state)
{
	static const struct {
		const char *method, *body, *wanted;
	} rows[] = {
		{"POST", NULL, "Content-Length: 0\r\n\r\n"},
		{"PUT", NULL, "Content-Length: 0\r\n\r\n"},
		{"PUT", "x", "Content-Length: 1\r\n\r\nx"},
		{"DELETE", NULL, "\r\n"},
		{"DELETE", "x", "Content-Length: 1\r\n\r\nx"},
		{"GET", "x", "Content-Length: 1\r\n\r\nx"},
		{"HEAD", NULL, "\r\n"},
		{"OPTIONS", NULL, "\r\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct http_conf conf = {.method = rows[i].method, .body = rows[i].body};
		struct http_request request;
		char *wanted = xprintf("%s / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n" AGENT
				       "Accept: */*\r\n%s",
			rows[i].method, rows[i].wanted);

		assert_null(http_request_init(&request, &conf));
		expect(&request, "", wanted);
		http_request_finish(&request);
		free(wanted);
	}
}

static void test_a_login_goes_to_its_own_host_only(void **state)
{
	const struct http_conf conf = {
		.method = "GET", .login = {.user = (char[]){"user"}, .password = (char[]){"p/w"}}};
	struct http_request request;

	(void)state;
	assert_null(http_request_init(&request, &conf));
	expect(&request, "/",
		"GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n"
		"Authorization: Basic dXNlcjpwL3c=\r\n" AGENT "Accept: */*\r\n\r\n");
	request.abroad = true;
	expect(&request, "/",
		"GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n" AGENT "Accept: */*\r\n\r\n");
	http_request_finish(&request);
}

/* A file is written anew after the load, so its content is looked at in each run. */
static void test_secrets_that_cannot_be_sent(void **state)
{
	char path[] = "/tmp/probity-http-XXXXXX";
	struct conf_pair header = {"X-Key", {.file = path, .prefix = ""}};
	const struct http_conf conf = {.method = "GET", .headers = {.items = &header, .count = 1}};
	struct http_request request;
	int fd = mkstemp(path);
	char *error, *wanted;

	(void)state;
	assert_int_equal(write(fd, "S3CRET\r\nHost: evil\n", 19), 19);
	error = http_request_init(&request, &conf);
	wanted = xprintf("header X-Key: %s: the file holds more than one line", path);
	assert_string_equal(error, wanted);
	free(wanted);
	free(error);
	http_request_finish(&request);
	assert_return_code(unlink(path), 0);
	error = http_request_init(&request, &conf);
	wanted = xprintf("header X-Key: %s: No such file or directory", path);
	assert_string_equal(error, wanted);
	free(wanted);
	free(error);
	http_request_finish(&request);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_plain_get),
		cmocka_unit_test(test_environment_changes_nothing),
		cmocka_unit_test(test_a_post_with_headers),
		cmocka_unit_test(test_bodies_and_methods),
		cmocka_unit_test(test_a_login_goes_to_its_own_host_only),
		cmocka_unit_test(test_secrets_that_cannot_be_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
