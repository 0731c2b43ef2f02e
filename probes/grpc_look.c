// SPDX-License-Identifier: MIT
/* The first bytes of a server, looked at before libcurl has them. */
#include "probes/grpc_look.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Bytes that must be there before a reader that asks poll() is told of any, socket(7). More
 * than anybody answers to the first packet, and the kernel keeps twice as much room anyway.
 */
#define UNSEEN 16384

#define FRAME_SETTINGS 4 /* RFC 9113, 3.4: the first frame of both sides */

static const struct grpc_finding nothing = {REASON_NONE, ""};

struct grpc_finding grpc_look_judge(const unsigned char *bytes, size_t length)
{
	static const char http[] = "HTTP/";

	if (length == 0)
		return (struct grpc_finding){REASON_CUT,
			"the connection was closed without an answer; is this a TLS port?"};
	/* SETTINGS have six bytes each, and nobody has 2^16 of them. */
	if (bytes[0] == 0)
		return length <= 3 || bytes[3] == FRAME_SETTINGS
			? nothing
			: (struct grpc_finding){
				  REASON_PROTOCOL, "the server does not speak HTTP/2"};
	/* RFC 8446, 5.1: an alert or a handshake, of a version 3.x. */
	if ((bytes[0] == 0x15 || bytes[0] == 0x16) && (length < 2 || bytes[1] == 3))
		return (struct grpc_finding){
			REASON_PROTOCOL, "the server speaks TLS, and `tls` is not set"};
	if (length >= sizeof(http) - 1 && memcmp(bytes, http, sizeof(http) - 1) == 0)
		return (struct grpc_finding){
			REASON_PROTOCOL, "the server speaks HTTP/1, not HTTP/2"};
	return (struct grpc_finding){REASON_PROTOCOL, "the server does not speak HTTP/2"};
}

/* Where it fails, libcurl may read first, and the words are its own. */
static void require(int fd, int bytes)
{
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
}

/* What the reader sends waits for the end of its first pass: nobody can answer before. tcp(7). */
static void hold_back(int fd, int whether)
{
	(void)setsockopt(fd, IPPROTO_TCP, TCP_CORK, &whether, sizeof(whether));
}

/* libcurl has sent its request and waits for the loop: from here on this watcher comes first. */
static void on_passed(struct ev_loop *loop, ev_prepare *watcher, int events)
{
	struct grpc_look *look = watcher->data;

	(void)events;
	hold_back(look->fd, 0);
	require(look->fd, GRPC_LOOK);
	ev_io_start(loop, &look->io);
}

/* An error is as good as the end: which of them shows first depends on moments. */
static struct grpc_finding look_at(int fd)
{
	unsigned char bytes[GRPC_LOOK];
	ssize_t got = recv(fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);

	if (got < 0 && errno == EAGAIN)
		return nothing;
	return grpc_look_judge(bytes, got < 0 ? 0 : (size_t)got);
}

static void on_bytes(struct ev_loop *loop, ev_io *io, int events)
{
	struct grpc_look *look = io->data;
	struct grpc_finding finding = look_at(look->fd);

	(void)loop;
	(void)events;
	require(look->fd, 1);
	grpc_look_stop(look);
	if (finding.reason != REASON_NONE)
		look->found(look->owner, finding);
}

struct grpc_finding grpc_look_last(const struct grpc_look *look)
{
	return look->loop == NULL || look->copy < 0 ? nothing : look_at(look->copy);
}

void grpc_look_start(struct grpc_look *look)
{
	ev_io_init(&look->io, on_bytes, look->fd, EV_READ);
	ev_set_priority(&look->io, EV_MAXPRI);
	look->io.data = look;
	ev_init(&look->passed, on_passed);
	/* Behind the timer that curlev_start_on() feeds in this pass. */
	ev_set_priority(&look->passed, EV_MINPRI);
	look->passed.data = look;
	look->copy = fcntl(look->fd, F_DUPFD_CLOEXEC, 0);
	require(look->fd, UNSEEN);
	hold_back(look->fd, 1);
	ev_feed_event(look->loop, &look->passed, EV_CUSTOM);
}

void grpc_look_stop(struct grpc_look *look)
{
	struct ev_loop *loop = look->loop;

	if (loop == NULL)
		return;
	look->loop = NULL;
	ev_clear_pending(loop, &look->passed);
	ev_io_stop(loop, &look->io);
	if (look->copy >= 0)
		(void)close(look->copy);
}
