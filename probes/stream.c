// SPDX-License-Identifier: MIT
/* Bytes to and from a connected socket, on the loop; with TLS below where it was begun. */
#include "probes/stream.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/tls_pipe.h"

#define FIRST_ROOM 512 /* bytes: a usual greeting or answer */

struct stream {
	struct stream_setup setup;
	ev_io reader, writer;
	char *window;
	size_t length, room;
	char *queue; /* to send */
	size_t queued;
	int send_error; /* told when there is nothing left to read */

	struct tls_pipe *pipe; /* NULL: in clear */
	void (*secured)(void *owner);
	bool handshaking;
	bool read_wants_write; /* TLS has to send before it can read on */
};

/* What one attempt to move bytes came to. */
enum move {
	MOVE_ON, /* some were moved, or none now */
	MOVE_OVER, /* no more will come */
};

static void watch(struct stream *stream, bool writable)
{
	if (writable)
		ev_io_start(stream->setup.loop, &stream->writer);
	else
		ev_io_stop(stream->setup.loop, &stream->writer);
}

/* Room for more in the window; 0 where it is full. */
static size_t make_room(struct stream *stream)
{
	if (stream->length == STREAM_WINDOW)
		return 0;
	if (stream->length == stream->room) {
		stream->room = stream->room == 0 ? FIRST_ROOM : stream->room * 2;
		if (stream->room > STREAM_WINDOW)
			stream->room = STREAM_WINDOW;
		stream->window = xrealloc(stream->window, stream->room, 1);
	}
	return stream->room - stream->length;
}

static enum move receive_clear(struct stream *stream, size_t room, int *ret_error)
{
	ssize_t got = recv(stream->reader.fd, stream->window + stream->length, room, 0);

	*ret_error = got == 0 ? stream->send_error : errno;
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		return MOVE_OVER;
	if (got > 0)
		stream->length += (size_t)got;
	return MOVE_ON;
}

static enum move receive_tls(struct stream *stream, size_t room, int *ret_error)
{
	size_t got = 0;
	enum tls_step step =
		tls_pipe_read(stream->pipe, stream->window + stream->length, room, &got);

	stream->read_wants_write = step == TLS_WANTS_WRITE;
	if (step == TLS_WANTS_WRITE)
		watch(stream, true);
	*ret_error = step == TLS_FAILED ? EPROTO : stream->send_error;
	if (step == TLS_FAILED || step == TLS_ENDED)
		return MOVE_OVER;
	if (step != TLS_DONE)
		return MOVE_ON;
	stream->length += got;
	/* The socket will not tell of what OpenSSL has taken from it already. */
	if (tls_pipe_is_pending(stream->pipe))
		ev_feed_event(stream->setup.loop, &stream->reader, EV_READ);
	return MOVE_ON;
}

static void end(struct stream *stream, int error)
{
	ev_io_stop(stream->setup.loop, &stream->reader);
	watch(stream, false);
	stream->setup.ended(stream->setup.owner, error);
}

static void receive(struct stream *stream)
{
	size_t before = stream->length, room = make_room(stream);
	int error = ENOBUFS;
	enum move move = MOVE_OVER;

	if (room > 0)
		move = stream->pipe == NULL ? receive_clear(stream, room, &error)
					    : receive_tls(stream, room, &error);
	if (move == MOVE_OVER)
		end(stream, error);
	else if (stream->length > before && stream->setup.received != NULL)
		stream->setup.received(stream->setup.owner);
}

static void handshake(struct stream *stream)
{
	enum tls_step step = tls_pipe_handshake(stream->pipe);

	if (step == TLS_FAILED || step == TLS_ENDED) {
		end(stream, EPROTO);
		return;
	}
	watch(stream, step == TLS_WANTS_WRITE);
	if (step != TLS_DONE)
		return;
	stream->handshaking = false;
	watch(stream, stream->queued > 0);
	/* The first answer may have come with the last of the handshake. */
	ev_feed_event(stream->setup.loop, &stream->reader, EV_READ);
	if (stream->secured != NULL)
		stream->secured(stream->setup.owner);
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events)
{
	struct stream *stream = io->data;

	(void)loop;
	(void)events;
	if (stream->handshaking)
		handshake(stream);
	else
		receive(stream);
}

/* Takes what was sent off the queue; false where nothing more can be sent. */
static bool transmit(struct stream *stream)
{
	size_t taken = 0;
	ssize_t sent;

	if (stream->pipe != NULL) {
		enum tls_step step =
			tls_pipe_write(stream->pipe, stream->queue, stream->queued, &taken);

		/* A write never waits for reading: there is no renegotiation. */
		if (step == TLS_FAILED || step == TLS_ENDED)
			return false;
	} else {
		sent = send(stream->writer.fd, stream->queue, stream->queued, MSG_NOSIGNAL);
		if (sent < 0 && errno != EAGAIN && errno != EINTR) {
			stream->send_error = errno;
			return false;
		}
		taken = sent < 0 ? 0 : (size_t)sent;
	}
	stream->queued -= taken;
	memmove(stream->queue, stream->queue + taken, stream->queued);
	explicit_bzero(stream->queue + stream->queued, taken);
	return true;
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events)
{
	struct stream *stream = io->data;

	(void)events;
	if (stream->handshaking) {
		handshake(stream);
		return;
	}
	if (stream->read_wants_write) {
		watch(stream, stream->queued > 0);
		receive(stream);
		return;
	}
	if (!transmit(stream)) {
		/* What the peer said before it left is still to be read; its end comes there. */
		stream->queued = 0;
		ev_io_stop(loop, io);
		ev_feed_event(loop, &stream->reader, EV_READ);
		return;
	}
	if (stream->queued > 0)
		return;
	ev_io_stop(loop, io);
	if (stream->setup.sent != NULL)
		stream->setup.sent(stream->setup.owner);
}

struct stream *stream_create(const struct stream_setup *setup)
{
	struct stream *stream = xcalloc(1, sizeof(*stream));

	stream->setup = *setup;
	/* Two short texts in a row must not wait for each other's ACK; no matter on AF_UNIX. */
	(void)setsockopt(setup->take_fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	ev_io_init(&stream->reader, on_readable, setup->take_fd, EV_READ);
	stream->reader.data = stream;
	ev_io_init(&stream->writer, on_writable, setup->take_fd, EV_WRITE);
	stream->writer.data = stream;
	ev_io_start(setup->loop, &stream->reader);
	return stream;
}

char *stream_start_tls(struct stream *stream, const struct stream_tls *tls)
{
	char *problem = NULL;

	assert(stream->pipe == NULL);
	if (stream->queued > 0)
		return xstrdup("the answer that TLS begins at came before it was asked for");
	if (stream->length > 0)
		return xstrdup("something came in clear behind the answer that TLS begins at");
	stream->pipe = tls_pipe_create(stream->reader.fd, tls->session, tls->name, &problem);
	if (stream->pipe == NULL)
		return problem;
	stream->secured = tls->secured;
	stream->handshaking = true;
	watch(stream, true);
	return NULL;
}

const char *stream_problem(const struct stream *stream)
{
	return stream->pipe == NULL ? "" : tls_pipe_problem(stream->pipe);
}

void stream_send(struct stream *stream, const void *bytes, size_t length)
{
	if (length == 0 || stream->send_error != 0)
		return;
	stream->queue = xrealloc(stream->queue, stream->queued + length, 1);
	memcpy(stream->queue + stream->queued, bytes, length);
	stream->queued += length;
	if (!stream->handshaking)
		watch(stream, true);
}

const char *stream_bytes(const struct stream *stream, size_t *ret_length)
{
	*ret_length = stream->length;
	return stream->length > 0 ? stream->window : "";
}

void stream_consume(struct stream *stream, size_t length)
{
	stream->length -= length;
	memmove(stream->window, stream->window + length, stream->length);
}

void stream_close(int take_fd)
{
	char waste[4096];
	size_t taken = 0;
	ssize_t got;

	(void)shutdown(take_fd, SHUT_WR);
	/* close() answers unread bytes with RST; a window full of them is read away. */
	while (taken < STREAM_WINDOW &&
		(got = recv(take_fd, waste, sizeof(waste), MSG_DONTWAIT)) > 0)
		taken += (size_t)got;
	(void)close(take_fd);
}

void stream_destroy(struct stream *stream)
{
	if (stream == NULL)
		return;
	ev_io_stop(stream->setup.loop, &stream->reader);
	ev_clear_pending(stream->setup.loop, &stream->reader);
	watch(stream, false);
	tls_pipe_destroy(stream->pipe);
	stream_close(stream->reader.fd);
	if (stream->queued > 0)
		explicit_bzero(stream->queue, stream->queued);
	free(stream->window);
	free(stream->queue);
	free(stream);
}

void stream_part(struct stream *take_stream, const void *bytes, size_t length)
{
	if (take_stream->queued == 0 && !take_stream->handshaking) {
		stream_send(take_stream, bytes, length);
		if (take_stream->queued > 0)
			(void)transmit(take_stream);
	}
	stream_destroy(take_stream);
}
