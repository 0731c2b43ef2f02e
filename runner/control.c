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
/*
 * Bytes of a connection's memory: a request's line and headers, of which curl and
 * browsers send a tenth; and half of it is a chunk of the answer, some rows at a time.
 */
#define CONNECTION_MEMORY ((size_t)16384)
#define BLOCK_SIZE (CONNECTION_MEMORY / 2)

/* What is answered under a path, made while it is sent. */
struct route {
	const char *path;
	const char *type; /* Content-Type */
	void *(*create)(const struct report_source *source);
	ssize_t (*read)(void *reader, char *bytes, size_t size); /* 0: the end, -1: cut */
	void (*destroy)(void *reader);
};

static void *status_create(const struct report_source *source);
static ssize_t status_read(void *reader, char *bytes, size_t size);
static void status_destroy(void *reader);

static const struct route routes[] = {
	{
		.path = "/v1/status",
		.type = "application/json",
		.create = status_create,
		.read = status_read,
		.destroy = status_destroy,
	},
};

/* An answer under way. */
struct answer {
	const struct route *route;
	void *reader;
};

struct control {
	struct MHD_Daemon *daemon;
	struct ev_loop *loop;
	ev_io ready; /* the epoll descriptor that holds all sockets */
	ev_timer timeout; /* when libmicrohttpd wants to be called without an event */
	struct report_source source;
	struct control_socket socket;
};

static void *status_create(const struct report_source *source)
{
	return report_create(source);
}

static ssize_t status_read(void *reader, char *bytes, size_t size)
{
	return report_read(reader, bytes, size);
}

static void status_destroy(void *reader)
{
	report_destroy(reader);
}

static ssize_t on_room(void *owner, uint64_t position, char *bytes, size_t size)
{
	struct answer *answer = owner;
	ssize_t length = answer->route->read(answer->reader, bytes, size);

	(void)position;
	if (length > 0)
		return length;
	return length == 0 ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void on_answered(void *owner)
{
	struct answer *answer = owner;

	answer->route->destroy(answer->reader);
	free(answer);
}

/* Sends the response, which it takes over; NULL closes the connection. */
static enum MHD_Result respond(struct MHD_Connection *connection, unsigned int code,
	struct MHD_Response *take_response, const char *type)
{
	enum MHD_Result result;

	if (take_response == NULL)
		return MHD_NO;
	(void)MHD_add_response_header(take_response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)MHD_add_response_header(take_response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, code, take_response);
	MHD_destroy_response(take_response); /* the connection holds it on */
	return result;
}

static enum MHD_Result answer_error(
	struct MHD_Connection *connection, unsigned int code, const char *error)
{
	char *text = xprintf("{\"error\":\"%s\"}", error);
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_COPY);

	free(text);
	return respond(connection, code, response, "application/json");
}

static enum MHD_Result answer_route(const struct control *control,
	struct MHD_Connection *connection, const struct route *route, bool head)
{
	struct answer *answer = xcalloc(1, sizeof(*answer));
	struct MHD_Response *response;

	answer->route = route;
	answer->reader = route->create(&control->source);
	response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, BLOCK_SIZE, on_room, answer, on_answered);
	if (response == NULL)
		on_answered(answer);
	else if (head) /* libmicrohttpd would send the last chunk of a body that is not there */
		(void)MHD_set_response_options(
			response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
	return respond(connection, MHD_HTTP_OK, response, route->type);
}

/* A body is never waited for: an answer queued at once ends the request. */
/* NOLINTNEXTLINE(readability-function-size): the type is libmicrohttpd's. */
static enum MHD_Result on_request(void *owner, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *upload, size_t *upload_size,
	void **state)
{
	bool head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;

	(void)version;
	(void)upload;
	(void)state;
	*upload_size = 0; /* what came of one is dropped */
	if (!head && strcmp(method, MHD_HTTP_METHOD_GET) != 0)
		return answer_error(
			connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are answered");
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
		if (strcmp(url, routes[i].path) == 0)
			return answer_route(owner, connection, &routes[i], head);
	}
	return answer_error(connection, MHD_HTTP_NOT_FOUND, "no such path; there is /v1/status");
}

static unsigned int connections(const struct control *control)
{
	return MHD_get_daemon_info(control->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
		->num_connections;
}

/*
 * Runs what is ready. libmicrohttpd lets go of the listening socket at its limit and
 * takes it up again only in a run after the one that closed a connection, of which no event
 * tells: hence one run more.
 */
static void run_daemon(struct control *control)
{
	bool full;

	do {
		full = connections(control) >= MOST_CONNECTIONS;
		(void)MHD_run(control->daemon);
	} while (full && connections(control) < MOST_CONNECTIONS);
}

/* Runs what is ready, and learns when to be called again. */
static void serve(struct control *control)
{
	MHD_UNSIGNED_LONG_LONG milliseconds;

	run_daemon(control);
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
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, MHD_OPTION_END);
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
