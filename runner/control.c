// SPDX-License-Identifier: MIT
/* The control socket's HTTP: libmicrohttpd's epoll descriptor on our loop. */
#include "runner/control.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "runner/control_socket.h"

#define MOST_CONNECTIONS 16U /* a few people and one monitoring system */
#define IDLE_SECONDS 5U /* a client that says nothing does not hold a connection */
/* Bytes for a request's line and headers: curl and browsers send a tenth to a half of it. */
#define REQUEST_MOST ((size_t)4096)
/* As many as a double keeps of any decimal: 0.012 stays 0.012. */
#define REAL_DIGITS 15

struct route {
	const char *path;
	const char *type; /* Content-Type */
	char *(*make)(const struct report_source *source); /* NULL if it cannot; free() */
};

static char *make_status(const struct report_source *source);

static const struct route routes[] = {
	{.path = "/v1/status", .type = "application/json", .make = make_status},
};

#define ROUTE_COUNT (sizeof(routes) / sizeof(*routes))

struct control {
	struct MHD_Daemon *daemon;
	struct ev_loop *loop;
	ev_io ready; /* the epoll descriptor that holds all sockets */
	ev_timer timeout; /* when libmicrohttpd wants to be called without an event */
	struct report_source source;
	struct control_socket socket;
	/* Made at most once in a loop pass, however many ask: no client can hold up the loop. */
	struct MHD_Response *answers[ROUTE_COUNT];
};

static char *make_status(const struct report_source *source)
{
	json_t *json = report_json(source);
	char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));

	json_decref(json);
	return text;
}

/* Takes over the text. NULL if text is NULL or memory is out. */
static struct MHD_Response *make_response(char *take_text, const char *type)
{
	struct MHD_Response *response;

	if (take_text == NULL)
		return NULL;
	response = MHD_create_response_from_buffer(
		strlen(take_text), take_text, MHD_RESPMEM_MUST_FREE);
	if (response == NULL)
		free(take_text);
	else
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	return response;
}

static enum MHD_Result answer_error(
	struct MHD_Connection *connection, unsigned int code, const char *error)
{
	struct MHD_Response *response =
		make_response(xprintf("{\"error\":\"%s\"}", error), "application/json");
	enum MHD_Result result = MHD_NO; /* closes the connection */

	if (response == NULL)
		return result;
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, code, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_route(
	struct control *control, struct MHD_Connection *connection, size_t index)
{
	struct MHD_Response **answer = &control->answers[index];

	if (*answer == NULL)
		*answer = make_response(routes[index].make(&control->source), routes[index].type);
	if (*answer == NULL)
		return MHD_NO;
	return MHD_queue_response(connection, MHD_HTTP_OK, *answer);
}

/* A body is never waited for: an answer queued at once ends the request. */
static enum MHD_Result on_request(void *owner, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *upload, size_t *upload_size,
	void **state)
{
	(void)version;
	(void)upload;
	(void)upload_size;
	(void)state;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer_error(
			connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are answered");
	for (size_t i = 0; i < ROUTE_COUNT; i++) {
		if (strcmp(url, routes[i].path) == 0)
			return answer_route(owner, connection, i);
	}
	return answer_error(connection, MHD_HTTP_NOT_FOUND, "no such path; there is /v1/status");
}

/* Runs what is ready, and learns when to be called again. */
static void serve(struct control *control)
{
	MHD_UNSIGNED_LONG_LONG milliseconds;

	(void)MHD_run(control->daemon);
	for (size_t i = 0; i < ROUTE_COUNT; i++) {
		if (control->answers[i] != NULL)
			MHD_destroy_response(control->answers[i]); /* connections hold it on */
		control->answers[i] = NULL;
	}
	ev_timer_stop(control->loop, &control->timeout);
	if (MHD_get_timeout(control->daemon, &milliseconds) != MHD_YES)
		return;
	ev_now_update(control->loop);
	ev_timer_set(&control->timeout, (double)milliseconds / 1000.0, 0);
	ev_timer_start(control->loop, &control->timeout);
}

static void on_ready(struct ev_loop *loop, ev_io *watcher, int events)
{
	(void)loop;
	(void)events;
	serve(watcher->data);
}

static void on_timeout(struct ev_loop *loop, ev_timer *watcher, int events)
{
	(void)loop;
	(void)events;
	serve(watcher->data);
}

/* MHD_stop_daemon closes the listening socket. */
static bool start_daemon(struct control *control)
{
	const union MHD_DaemonInfo *info;

	control->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, control,
		MHD_OPTION_LISTEN_SOCKET, control->socket.fd, MHD_OPTION_CONNECTION_LIMIT,
		MOST_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_MOST, MHD_OPTION_END);
	if (control->daemon == NULL)
		return false;
	control->socket.fd = -1;
	info = MHD_get_daemon_info(control->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	ev_io_init(&control->ready, on_ready, info->epoll_fd, EV_READ);
	ev_init(&control->timeout, on_timeout);
	/* Probes come first in a pass that has both. */
	ev_set_priority(&control->ready, -1);
	ev_set_priority(&control->timeout, -1);
	control->ready.data = control->timeout.data = control;
	ev_io_start(control->loop, &control->ready);
	return true;
}

struct control *control_create(struct ev_loop *loop, const char *runtime_dir,
	const struct report_source *source, char **ret_error)
{
	struct control *control = xcalloc(1, sizeof(*control));

	control->loop = loop;
	control->source = *source;
	if (!control_socket_open(&control->socket, runtime_dir, ret_error)) {
		free(control);
		return NULL;
	}
	if (!start_daemon(control)) {
		*ret_error = xprintf("%s: cannot serve HTTP on it", control->socket.path);
		control_socket_close(&control->socket);
		free(control);
		return NULL;
	}
	return control;
}

void control_destroy(struct control *control)
{
	if (control == NULL)
		return;
	ev_io_stop(control->loop, &control->ready);
	ev_timer_stop(control->loop, &control->timeout);
	MHD_stop_daemon(control->daemon);
	control_socket_close(&control->socket);
	free(control);
}
