// SPDX-License-Identifier: MIT
/* libcurl's multi_socket interface driven by libev, and a pool of easy handles. */
#include "probes/curlev.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/arena.h"

/* Idle handles kept: at about 6 KB each under 0.8 MB. Bursts beyond it make new ones. */
#define MOST_IDLE 128

/* Bytes of one read. A page: a usual answer comes in one, and 200 at once cost 0.8 MB. */
#define READ_SIZE 4096L

/* Connections kept for reuse where there is no limit: one per check in the largest set-up. */
#define MOST_KEPT 10000L

struct curlev {
	struct ev_loop *loop;
	CURLM *multi;
	ev_timer timer; /* libcurl's one timer; fed by hand when a transfer is added */
	struct curlev_transfer *running; /* a list */
	CURL *idle[MOST_IDLE];
	size_t idle_count;
};

/* One socket of libcurl's, as curl_multi_assign() remembers it. */
struct curlev_socket {
	ev_io io;
	struct curlev *curlev;
};

static struct curlev *shared;

/* Tells who is done. A done callback may start and stop transfers: each round reads anew. */
static void reap(struct curlev *curlev)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(curlev->multi, &left)) != NULL) {
		struct curlev_transfer *transfer = NULL;
		CURLcode result = message->data.result;

		if (message->msg != CURLMSG_DONE)
			continue;
		(void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
		curlev_stop(transfer);
		transfer->done(transfer, result);
	}
}

static void on_socket(struct ev_loop *loop, ev_io *io, int events)
{
	struct curlev_socket *watch = (struct curlev_socket *)io;
	struct curlev *curlev = watch->curlev;
	int mask = (events & EV_READ ? CURL_CSELECT_IN : 0) |
		(events & EV_WRITE ? CURL_CSELECT_OUT : 0) |
		(events & EV_ERROR ? CURL_CSELECT_ERR : 0);
	int running;

	(void)loop;
	/* watch may be gone after this. */
	(void)curl_multi_socket_action(curlev->multi, io->fd, mask, &running);
	reap(curlev);
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct curlev *curlev = timer->data;
	int running;

	(void)events;
	ev_timer_stop(loop, timer);
	(void)curl_multi_socket_action(curlev->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	reap(curlev);
}

/* CURLMOPT_TIMERFUNCTION. Only arms: calling libcurl from here would recurse into it. */
static int set_timer(CURLM *multi, long timeout_ms, void *data)
{
	struct curlev *curlev = data;

	(void)multi;
	if (timeout_ms < 0) {
		ev_timer_stop(curlev->loop, &curlev->timer);
		return 0;
	}
	/* ev_timer_again() takes a repeat of 0 for "stop"; a nanosecond is the next pass. */
	curlev->timer.repeat = timeout_ms > 0 ? (double)timeout_ms / 1000.0 : 1e-9;
	ev_timer_again(curlev->loop, &curlev->timer);
	return 0;
}

/* CURLMOPT_SOCKETFUNCTION. curl_multi_assign() is made to be called from here. */
static int set_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *socket_data)
{
	struct curlev *curlev = data;
	struct curlev_socket *watch = socket_data;
	int events = (what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0);

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (watch != NULL) {
			ev_io_stop(curlev->loop, &watch->io);
			free(watch);
		}
		return 0;
	}
	if (watch == NULL) {
		watch = xcalloc(1, sizeof(*watch));
		watch->curlev = curlev;
		ev_set_cb(&watch->io, on_socket);
		(void)curl_multi_assign(curlev->multi, fd, watch);
	}
	ev_io_stop(curlev->loop, &watch->io);
	ev_io_set(&watch->io, fd, events);
	ev_io_start(curlev->loop, &watch->io);
	return 0;
}

struct curlev *curlev_create(struct ev_loop *loop, long most_connections)
{
	struct curlev *curlev = xcalloc(1, sizeof(*curlev));

	/* libcurl counts these: only the first one works, only the last clean-up does. */
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		abort();
	curlev->loop = loop;
	curlev->multi = curl_multi_init();
	/* Fails when memory or descriptors are out at the start, where nothing can run. */
	if (curlev->multi == NULL)
		abort();
	ev_init(&curlev->timer, on_timer);
	curlev->timer.data = curlev;
	(void)curl_multi_setopt(curlev->multi, CURLMOPT_SOCKETFUNCTION, set_socket);
	(void)curl_multi_setopt(curlev->multi, CURLMOPT_SOCKETDATA, curlev);
	(void)curl_multi_setopt(curlev->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	(void)curl_multi_setopt(curlev->multi, CURLMOPT_TIMERDATA, curlev);
	(void)curl_multi_setopt(curlev->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, most_connections);
	(void)curl_multi_setopt(curlev->multi, CURLMOPT_MAXCONNECTS,
		most_connections > 0 ? most_connections : MOST_KEPT);
	return curlev;
}

void curlev_destroy(struct curlev *curlev)
{
	if (curlev == NULL)
		return;
	while (curlev->running != NULL)
		curlev_stop(curlev->running);
	while (curlev->idle_count > 0)
		curl_easy_cleanup(curlev->idle[--curlev->idle_count]);
	/* Closes kept connections, with set_socket() for each that is watched. */
	(void)curl_multi_cleanup(curlev->multi);
	ev_timer_stop(curlev->loop, &curlev->timer);
	free(curlev);
	curl_global_cleanup();
}

struct curlev *curlev_shared(struct ev_loop *loop)
{
	if (shared == NULL)
		shared = curlev_create(loop, 0);
	assert(shared->loop == loop);
	return shared;
}

void curlev_shared_destroy(void)
{
	curlev_destroy(shared);
	shared = NULL;
}

static void start(struct curlev *curlev, struct curlev_transfer *transfer)
{
	transfer->curlev = curlev;
	transfer->previous = NULL;
	transfer->next = curlev->running;
	if (curlev->running != NULL)
		curlev->running->previous = transfer;
	curlev->running = transfer;
	(void)curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
	/* Fails only for want of memory, or for a handle that is in already. */
	if (curl_multi_add_handle(curlev->multi, transfer->easy) != CURLM_OK)
		abort();
	/*
	 * The first step in this pass of the loop, not after another wait: libcurl has
	 * just armed its timer for "at once". Only here, since libcurl also arms it so
	 * while a long body goes on, and that must leave the others their turn.
	 */
	ev_feed_event(curlev->loop, &curlev->timer, EV_TIMER);
}

void curlev_start(struct curlev *curlev, struct curlev_transfer *transfer, CURL *easy,
	void (*done)(struct curlev_transfer *transfer, CURLcode result))
{
	assert(transfer->curlev == NULL);
	transfer->easy = easy;
	transfer->done = done;
	transfer->fd = -1;
	start(curlev, transfer);
}

/*
 * CURLOPT_OPENSOCKETFUNCTION: hands over the connected socket, once. libcurl
 * 7.88 connects even a socket said to be connected (as 8.x does not). Linux
 * answers the second connect() of a pending connection with its outcome, here
 * 0, whatever the address; the true one is for security modules, which look at
 * it before. There is room: libcurl keeps a sockaddr_storage behind addr.
 */
static curl_socket_t hand_over(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct curlev_transfer *transfer = data;
	struct sockaddr_storage peer = {0};
	socklen_t length = sizeof(peer);
	int fd = transfer->fd;

	(void)purpose;
	if (fd < 0)
		return CURL_SOCKET_BAD;
	transfer->fd = -1;
	/* Fails where the peer has gone already: then the second connect() says so. */
	if (getpeername(fd, (struct sockaddr *)&peer, &length) == 0) {
		memcpy(&address->addr, &peer, length);
		address->addrlen = length;
		address->family = peer.ss_family;
	}
	return fd;
}

/* CURLOPT_SOCKOPTFUNCTION: spares a libcurl that listens to it the connect. */
static int already_connected(void *data, curl_socket_t fd, curlsocktype purpose)
{
	(void)data;
	(void)fd;
	(void)purpose;
	return CURL_SOCKOPT_ALREADY_CONNECTED;
}

void curlev_start_on(struct curlev *curlev, struct curlev_transfer *transfer, CURL *easy, int fd,
	void (*done)(struct curlev_transfer *transfer, CURLcode result))
{
	/*
	 * For any host and port: one address that is never connected to. One constant
	 * keeps libcurl's DNS cache at a single entry. libcurl only reads the list.
	 */
	static char nowhere[] = "::127.0.0.1:1";
	static struct curl_slist connect_to = {.data = nowhere};

	assert(transfer->curlev == NULL);
	transfer->easy = easy;
	transfer->done = done;
	transfer->fd = fd;
	(void)curl_easy_setopt(easy, CURLOPT_CONNECT_TO, &connect_to);
	(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, hand_over);
	(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer);
	(void)curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, already_connected);
	start(curlev, transfer);
}

void curlev_stop(struct curlev_transfer *transfer)
{
	struct curlev *curlev = transfer->curlev;

	if (curlev == NULL)
		return;
	(void)curl_multi_remove_handle(curlev->multi, transfer->easy);
	if (transfer->fd >= 0)
		(void)close(transfer->fd);
	transfer->fd = -1;
	if (transfer->next != NULL)
		transfer->next->previous = transfer->previous;
	if (transfer->previous != NULL)
		transfer->previous->next = transfer->next;
	else
		curlev->running = transfer->next;
	transfer->curlev = NULL;
}

/* CURLOPT_OPENSOCKETFUNCTION: libcurl 7.88 opens without close-on-exec. */
static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	(void)data;
	(void)purpose;
	return socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
		address->protocol);
}

CURL *curlev_easy(struct curlev *curlev)
{
	CURL *easy;

	if (curlev->idle_count > 0) {
		easy = curlev->idle[--curlev->idle_count];
	} else {
		easy = curl_easy_init();
		/* Only for want of memory. */
		if (easy == NULL)
			abort();
	}
	/* PROXY "" and NOPROXY "*" each keep the proxy variables out; both, to be sure. */
	(void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
	(void)curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
	(void)curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	(void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	(void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	(void)curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	/* Never pruned: libcurl else walks its whole cache at each transfer. */
	(void)curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, -1L);
	(void)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, READ_SIZE);
	(void)curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
	(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	return easy;
}

void curlev_give_back(struct curlev *curlev, CURL *easy)
{
	if (easy == NULL)
		return;
	if (curlev->idle_count == MOST_IDLE) {
		curl_easy_cleanup(easy);
		return;
	}
	/* At once, so that no secret and no pointer of the caller's stays in an idle handle. */
	curl_easy_reset(easy);
	curlev->idle[curlev->idle_count++] = easy;
}
