// SPDX-License-Identifier: MIT
/* A name or address -> one connected socket: attempts, each of which is a non-blocking connect. */
#include "probes/dial.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/attempts.h"
#include "probes/dial_address.h"

struct dial {
	struct dial_setup setup;
	struct attempts *attempts;
};

struct socket_attempt {
	struct attempt attempt;
	ev_io io;
	int fd;
	bool is_open; /* fd is ours to close */
};

static struct socket_attempt *of(struct attempt *attempt)
{
	return (struct socket_attempt *)attempt;
}

static void on_connecting(void *owner)
{
	struct dial *dial = owner;

	if (dial->setup.connecting != NULL)
		dial->setup.connecting(dial->setup.owner);
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events)
{
	struct socket_attempt *one = io->data;
	int error;

	(void)events;
	ev_io_stop(loop, io);
	error = attempt_outcome(one->fd);
	if (error == 0)
		attempt_connected(&one->attempt);
	else
		attempt_failed(&one->attempt, error, NULL);
}

static enum attempt_state blame(struct attempt *attempt, int error)
{
	attempt_blame(attempt, error, NULL);
	return ATTEMPT_FAILED;
}

static enum attempt_state open_socket(struct attempt *attempt)
{
	struct socket_attempt *one = of(attempt);
	const struct sockaddr_storage *address = &attempt->address;
	struct pollfd look = {.events = POLLOUT};
	int error;

	one->fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (one->fd < 0)
		return blame(attempt, errno);
	one->is_open = true;
	if (connect(one->fd, (const struct sockaddr *)address, address_length(address)) == 0)
		return ATTEMPT_CONNECTED;
	if (errno == EAGAIN && address->ss_family == AF_UNIX) {
		(void)blame(attempt, EAGAIN);
		return ATTEMPT_FULL;
	}
	if (errno != EINPROGRESS && errno != EINTR)
		return blame(attempt, errno);
	/* A peer on this machine has answered by now: a look costs less than a watcher. */
	look.fd = one->fd;
	if (poll(&look, 1, 0) == 1) {
		error = attempt_outcome(one->fd);
		return error == 0 ? ATTEMPT_CONNECTED : blame(attempt, error);
	}
	ev_io_init(&one->io, on_writable, one->fd, EV_WRITE);
	one->io.data = one;
	ev_io_start(attempts_loop(attempt), &one->io);
	return ATTEMPT_PENDING;
}

static void drop_socket(struct attempt *attempt)
{
	struct socket_attempt *one = of(attempt);

	if (!one->is_open)
		return;
	ev_io_stop(attempts_loop(attempt), &one->io);
	(void)close(one->fd);
	one->is_open = false;
}

static void on_done(void *owner, struct attempt *winner, enum probe_reason reason)
{
	struct dial *dial = owner;

	if (winner != NULL)
		of(winner)->is_open = false;
	dial->setup.done(dial->setup.owner, winner == NULL ? -1 : of(winner)->fd, reason);
}

struct dial *dial_start(const struct dial_setup *setup)
{
	static const int families[] = {
		[DIAL_ANY] = AF_UNSPEC,
		[DIAL_V4] = AF_INET,
		[DIAL_V6] = AF_INET6,
	};
	struct dial *dial = xcalloc(1, sizeof(*dial));

	dial->setup = *setup;
	dial->attempts = attempts_start(&(struct attempts_setup){
		.loop = setup->loop,
		.trace = setup->trace,
		.address = setup->address,
		.family = families[setup->family],
		.timeout = setup->timeout,
		.size = sizeof(struct socket_attempt),
		.connecting = on_connecting,
		.open = open_socket,
		.drop = drop_socket,
		.done = on_done,
		.owner = dial,
	});
	return dial;
}

const char *dial_report(struct dial *dial)
{
	return attempts_report(dial->attempts);
}

const char *dial_peer(struct dial *dial)
{
	return attempts_peer(dial->attempts);
}

void dial_destroy(struct dial *dial)
{
	if (dial == NULL)
		return;
	attempts_destroy(dial->attempts);
	free(dial);
}
