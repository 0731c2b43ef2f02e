// SPDX-License-Identifier: MIT
/* The control socket: libmicrohttpd's epoll descriptor on our loop. */
#include "runner/control.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/arena.h"

#define SOCKET_NAME "control.sock"
#define MOST_CONNECTIONS 16 /* a few people and one monitoring system */
#define IDLE_SECONDS 5 /* a client that says nothing does not hold a connection */

struct control {
	struct MHD_Daemon *daemon;
	struct ev_loop *loop;
	ev_io ready; /* the epoll descriptor that holds all sockets */
	ev_timer timeout; /* when libmicrohttpd wants to be called without an event */
	struct report_source source;
	char *path;
};

struct route {
	const char *path;
	json_t *(*make)(const struct report_source *source);
};

static const struct route routes[] = {
	{"/v1/status", report_json},
};

/* Runs what is ready, and learns when to be called again. */
static void serve(struct control *control)
{
	MHD_UNSIGNED_LONG_LONG milliseconds;

	(void)MHD_run(control->daemon);
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

/* Queues a JSON answer; takes over the value. */
static enum MHD_Result answer(
	struct MHD_Connection *connection, unsigned int code, json_t *take_json)
{
	char *text = json_dumps(take_json, JSON_COMPACT);
	struct MHD_Response *response;
	enum MHD_Result result;

	json_decref(take_json);
	if (text == NULL)
		return MHD_NO;
	response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
	if (response == NULL) {
		free(text);
		return MHD_NO;
	}
	(void)MHD_add_response_header(response, "Content-Type", "application/json");
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)MHD_add_response_header(response, "Allow", "GET, HEAD");
	result = MHD_queue_response(connection, code, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result on_request(void *owner, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *upload, size_t *upload_size,
	void **state)
{
	const struct control *control = owner;

	(void)version;
	(void)upload;
	(void)state;
	*upload_size = 0; /* bodies are read and dropped */
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			json_pack("{s:s}", "error", "only GET and HEAD"));
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
		if (strcmp(url, routes[i].path) == 0)
			return answer(connection, MHD_HTTP_OK, routes[i].make(&control->source));
	}
	return answer(connection, MHD_HTTP_NOT_FOUND,
		json_pack("{s:s}", "error", "no such path; there is /v1/status"));
}

/* True if somebody answers on the socket. */
static bool is_live(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool live = fd >= 0 &&
		(connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
			errno == EAGAIN);

	if (fd >= 0)
		(void)close(fd);
	return live;
}

/* A listening socket of mode 0660, or negative errno; -EADDRINUSE if another daemon lives. */
static int open_socket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t mask;
	int fd, result;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (is_live(&address))
		return -EADDRINUSE;
	(void)unlink(path); /* a stale one, or none */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0117); /* 0660 from birth */
	result = bind(fd, (const struct sockaddr *)&address, sizeof(address));
	(void)umask(mask);
	if (result == 0)
		result = listen(fd, MOST_CONNECTIONS);
	if (result == 0)
		return fd;
	result = -errno;
	(void)close(fd);
	return result;
}

static struct MHD_Daemon *start_daemon(struct control *control, int fd)
{
	return MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, control,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)MOST_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)IDLE_SECONDS, MHD_OPTION_END);
}

struct control *control_create(struct ev_loop *loop, const char *runtime_dir,
	const struct report_source *source, char **ret_error)
{
	struct control *control = xcalloc(1, sizeof(*control));
	const union MHD_DaemonInfo *info;
	int fd;

	control->loop = loop;
	control->source = *source;
	control->path = xprintf("%s/%s", runtime_dir, SOCKET_NAME);
	ev_init(&control->ready, on_ready);
	ev_init(&control->timeout, on_timeout);
	control->ready.data = control->timeout.data = control;
	fd = open_socket(control->path);
	if (fd == -EADDRINUSE)
		*ret_error = xprintf("%s: another probity answers there; stop it, or give this "
				     "one its own --runtime-dir",
			control->path);
	else if (fd < 0)
		*ret_error = xprintf("%s: cannot listen: %s", control->path, strerror(-fd));
	if (fd >= 0)
		control->daemon = start_daemon(control, fd);
	if (control->daemon == NULL) {
		if (fd >= 0) {
			*ret_error = xprintf("%s: libmicrohttpd does not start", control->path);
			(void)close(fd);
		}
		free(control->path);
		free(control);
		return NULL;
	}
	info = MHD_get_daemon_info(control->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	ev_io_set(&control->ready, info->epoll_fd, EV_READ);
	ev_io_start(loop, &control->ready);
	return control;
}

void control_destroy(struct control *control)
{
	if (control == NULL)
		return;
	ev_io_stop(control->loop, &control->ready);
	ev_timer_stop(control->loop, &control->timeout);
	MHD_stop_daemon(control->daemon); /* closes the listening socket */
	(void)unlink(control->path);
	free(control->path);
	free(control);
}
