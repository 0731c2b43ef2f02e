// SPDX-License-Identifier: MIT
/* Bytes to and from a connected socket, on the loop. */
#include "probes/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/arena.h"

#define FIRST_ROOM 512 /* bytes: a usual greeting or answer */

struct stream {
	struct stream_setup setup;
	ev_io reader, writer;
	char *window;
	size_t length, room;
	char *queue; /* to send */
	size_t queued;
	int send_error; /* told when there is nothing left to read */
};

/* Reads once more into the window. 0: there is more, or may be later. Else as for ended(). */
static int receive(struct stream *stream, bool *ret_over)
{
	ssize_t got;

	*ret_over = true;
	if (stream->length == STREAM_WINDOW)
		return ENOBUFS;
	if (stream->length == stream->room) {
		stream->room = stream->room == 0 ? FIRST_ROOM : stream->room * 2;
		if (stream->room > STREAM_WINDOW)
			stream->room = STREAM_WINDOW;
		stream->window = xrealloc(stream->window, stream->room, 1);
	}
	got = recv(stream->reader.fd, stream->window + stream->length,
		stream->room - stream->length, 0);
	if (got == 0)
		return stream->send_error;
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		return errno;
	*ret_over = false;
	if (got > 0)
		stream->length += (size_t)got;
	return 0;
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events)
{
	struct stream *stream = io->data;
	size_t before = stream->length;
	bool over;
	int error = receive(stream, &over);

	(void)events;
	if (over) {
		ev_io_stop(loop, &stream->reader);
		ev_io_stop(loop, &stream->writer);
		stream->setup.ended(stream->setup.owner, error);
	} else if (stream->length > before && stream->setup.received != NULL) {
		stream->setup.received(stream->setup.owner);
	}
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events)
{
	struct stream *stream = io->data;
	ssize_t sent = send(io->fd, stream->queue, stream->queued, MSG_NOSIGNAL);

	(void)events;
	if (sent < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (sent < 0) {
		/* What the peer said before it left is still to be read; its end comes there. */
		stream->send_error = errno;
		stream->queued = 0;
		ev_io_stop(loop, io);
		return;
	}
	stream->queued -= (size_t)sent;
	memmove(stream->queue, stream->queue + sent, stream->queued);
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
	ev_io_init(&stream->reader, on_readable, setup->take_fd, EV_READ);
	stream->reader.data = stream;
	ev_io_init(&stream->writer, on_writable, setup->take_fd, EV_WRITE);
	stream->writer.data = stream;
	ev_io_start(setup->loop, &stream->reader);
	return stream;
}

void stream_send(struct stream *stream, const void *bytes, size_t length)
{
	if (length == 0 || stream->send_error != 0)
		return;
	stream->queue = xrealloc(stream->queue, stream->queued + length, 1);
	memcpy(stream->queue + stream->queued, bytes, length);
	stream->queued += length;
	ev_io_start(stream->setup.loop, &stream->writer);
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
	ev_io_stop(stream->setup.loop, &stream->writer);
	stream_close(stream->reader.fd);
	free(stream->window);
	free(stream->queue);
	free(stream);
}
