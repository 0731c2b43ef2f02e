// SPDX-License-Identifier: MIT
/* A name or address -> one connected socket: lookup, then staggered connects. */
#include "probes/dial.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/dial_address.h"
#include "probes/resolve.h"

/* s: until a unix socket with a full queue is tried again. It has no event for "room again". */
#define RETRY_FULL_QUEUE 0.05

enum step {
	STEP_CONNECTED,
	STEP_PENDING,
	STEP_FAILED,
	STEP_FULL, /* a unix socket whose queue is full */
};

struct attempt {
	ev_io io;
	struct dial *dial;
	struct sockaddr_storage address;
	int fd; /* -1 while not begun and when over */
	int error; /* errno; 0 while there is none */
};

struct dial {
	struct dial_setup setup;
	struct resolve_query *query; /* NULL when looked up */
	struct attempt *attempts;
	size_t count, begun, pending;
	size_t left_out; /* addresses beyond DIAL_MAX_ADDRESSES */
	const struct attempt *winner;
	int fd; /* connected and not yet handed over, else -1 */
	enum probe_reason reason;
	ev_timer stagger;
	ev_prepare ended; /* never started: carries the event that leads to done */
	char *failure; /* why there is no address at all; owned */
	char *report, *peer; /* as last told; owned */
};

static void on_ended(struct ev_loop *loop, ev_prepare *watcher, int events)
{
	struct dial *dial = watcher->data;
	int fd = dial->fd;

	(void)loop;
	(void)events;
	dial->fd = -1;
	dial->setup.done(dial->setup.owner, fd, dial->reason);
}

static void drop(struct attempt *attempt)
{
	ev_io_stop(attempt->dial->setup.loop, &attempt->io);
	if (attempt->fd >= 0)
		(void)close(attempt->fd);
	attempt->fd = -1;
}

/* Closes what is still connecting, and leads to done. */
static void end(struct dial *dial, int fd, enum probe_reason reason)
{
	ev_timer_stop(dial->setup.loop, &dial->stagger);
	for (size_t i = 0; i < dial->begun; i++)
		drop(&dial->attempts[i]);
	dial->fd = fd;
	dial->reason = reason;
	ev_feed_event(dial->setup.loop, &dial->ended, EV_CUSTOM);
}

static void trace_attempt(const struct attempt *attempt, const char *how)
{
	char *address;

	if (attempt->dial->setup.trace == NULL)
		return;
	address = address_show(&attempt->address);
	trace_add(attempt->dial->setup.trace, TRACE_ADDRESS, "%s %s", address, how);
	free(address);
}

static void succeed(struct attempt *attempt)
{
	struct dial *dial = attempt->dial;
	int fd = attempt->fd;

	ev_io_stop(dial->setup.loop, &attempt->io);
	attempt->fd = -1;
	dial->winner = attempt;
	trace_attempt(attempt, "connected");
	end(dial, fd, REASON_NONE);
}

/* Where one address could not be tried for want of ours, the target is not to blame. */
static enum probe_reason failure_reason(const struct dial *dial)
{
	for (size_t i = 0; i < dial->count; i++) {
		int error = dial->attempts[i].error;

		if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM)
			return REASON_LOCAL;
	}
	return REASON_CONNECT;
}

static enum step fail(struct attempt *attempt, int error)
{
	drop(attempt);
	attempt->error = error;
	trace_attempt(attempt, strerror(error));
	return STEP_FAILED;
}

/* The outcome of a connect that was pending. A second connect() would tell too, but curlev.c
 * needs it unasked. */
static enum step settle(struct attempt *attempt)
{
	int error = 0;
	socklen_t length = sizeof(error);

	if (getsockopt(attempt->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
		error = errno;
	return error == 0 ? STEP_CONNECTED : fail(attempt, error);
}

static enum step begin(struct attempt *attempt)
{
	const struct sockaddr_storage *address = &attempt->address;
	struct pollfd look = {.events = POLLOUT};

	attempt->fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (attempt->fd < 0)
		return fail(attempt, errno);
	attempt->error = 0;
	if (connect(attempt->fd, (const struct sockaddr *)address, address_length(address)) == 0)
		return STEP_CONNECTED;
	if (errno == EAGAIN && address->ss_family == AF_UNIX) {
		(void)fail(attempt, EAGAIN);
		return STEP_FULL;
	}
	if (errno != EINPROGRESS && errno != EINTR)
		return fail(attempt, errno);
	/* A peer on this machine has answered by now: a look costs less than a watcher. */
	look.fd = attempt->fd;
	if (poll(&look, 1, 0) == 1)
		return settle(attempt);
	ev_io_set(&attempt->io, attempt->fd, EV_WRITE);
	ev_io_start(attempt->dial->setup.loop, &attempt->io);
	return STEP_PENDING;
}

/* Begins attempts until one is under way, or none is left. */
static void connect_next(struct dial *dial)
{
	while (dial->begun < dial->count) {
		struct attempt *attempt = &dial->attempts[dial->begun++];
		enum step step = begin(attempt);

		if (step == STEP_CONNECTED) {
			succeed(attempt);
			return;
		}
		if (step == STEP_FULL) {
			dial->begun--;
			dial->stagger.repeat = RETRY_FULL_QUEUE;
			break;
		}
		if (step == STEP_PENDING) {
			dial->pending++;
			break;
		}
	}
	if (dial->begun < dial->count)
		ev_timer_again(dial->setup.loop, &dial->stagger);
	else
		ev_timer_stop(dial->setup.loop, &dial->stagger);
	if (dial->begun == dial->count && dial->pending == 0)
		end(dial, -1, failure_reason(dial));
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events)
{
	struct attempt *attempt = io->data;

	(void)events;
	ev_io_stop(loop, io);
	attempt->dial->pending--;
	if (settle(attempt) == STEP_CONNECTED)
		succeed(attempt);
	else
		connect_next(attempt->dial);
}

static void on_stagger(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	connect_next(timer->data);
}

/* No address at all. failure is taken over. */
static void give_up(struct dial *dial, char *take_failure)
{
	dial->failure = take_failure;
	trace_add(dial->setup.trace, TRACE_ADDRESS, "%s", take_failure);
	end(dial, -1, REASON_RESOLVE);
}

static void connect_all(struct dial *dial, const struct sockaddr_storage *addresses, size_t count)
{
	double share;

	dial->count = count < DIAL_MAX_ADDRESSES ? count : DIAL_MAX_ADDRESSES;
	dial->left_out = count - dial->count;
	dial->attempts = xcalloc(dial->count, sizeof(*dial->attempts));
	for (size_t i = 0; i < dial->count; i++) {
		struct attempt *attempt = &dial->attempts[i];

		attempt->dial = dial;
		attempt->fd = -1;
		attempt->address = addresses[i];
		address_set_port(&attempt->address, dial->setup.address->port);
		ev_init(&attempt->io, on_writable);
		attempt->io.data = attempt;
	}
	share = dial->setup.timeout / 2 / (double)dial->count;
	dial->stagger.repeat = share > 0 && share < DIAL_STAGGER ? share : DIAL_STAGGER;
	if (dial->setup.connecting != NULL)
		dial->setup.connecting(dial->setup.owner);
	connect_next(dial);
}

static void on_answer(void *owner, const struct resolve_answer *answer)
{
	struct dial *dial = owner;

	dial->query = NULL;
	if (answer->count == 0) {
		give_up(dial, xprintf("%s: %s", dial->setup.address->host, answer->error));
		return;
	}
	trace_add(dial->setup.trace, TRACE_ADDRESS, "%s has %zu address%s",
		dial->setup.address->host, answer->count, answer->count == 1 ? "" : "es");
	connect_all(dial, answer->addresses, answer->count);
}

static void dial_unix(struct dial *dial, const char *path)
{
	struct sockaddr_storage address = {0};
	struct sockaddr_un *un = (struct sockaddr_un *)&address;

	un->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(un->sun_path)) {
		give_up(dial, xprintf("%s: %s", path, strerror(ENAMETOOLONG)));
		return;
	}
	memcpy(un->sun_path, path, strlen(path) + 1);
	connect_all(dial, &address, 1);
}

struct dial *dial_start(const struct dial_setup *setup)
{
	static const int families[] = {
		[DIAL_ANY] = AF_UNSPEC,
		[DIAL_V4] = AF_INET,
		[DIAL_V6] = AF_INET6,
	};
	const struct conf_address *to = setup->address;
	struct dial *dial = xcalloc(1, sizeof(*dial));
	int family = families[setup->family];
	struct sockaddr_storage address;

	dial->setup = *setup;
	dial->fd = -1;
	ev_init(&dial->stagger, on_stagger);
	dial->stagger.data = dial;
	ev_init(&dial->ended, on_ended);
	dial->ended.data = dial;
	if (to->path != NULL)
		dial_unix(dial, to->path);
	else if (!address_parse(to->host, &address))
		dial->query = resolve_start(setup->loop, to->host, family, on_answer, dial);
	else if (family != AF_UNSPEC && family != address.ss_family)
		give_up(dial,
			xprintf("%s: not an %s address", to->host,
				family == AF_INET ? "IPv4" : "IPv6"));
	else
		connect_all(dial, &address, 1);
	return dial;
}

static char *report_attempts(const struct dial *dial)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (stream == NULL)
		abort(); /* only for want of memory */
	for (size_t i = 0; i < dial->count; i++) {
		const struct attempt *attempt = &dial->attempts[i];
		char *address = address_show(&attempt->address);
		const char *how = i < dial->begun ? "no answer" : "not tried yet";

		if (attempt == dial->winner)
			how = "connected";
		if (attempt->error != 0)
			how = strerror(attempt->error);
		(void)fprintf(stream, "%s%s %s", i == 0 ? "" : ", ", address, how);
		free(address);
	}
	if (dial->left_out > 0)
		(void)fprintf(stream, ", %zu more not tried", dial->left_out);
	(void)fclose(stream);
	return text;
}

const char *dial_report(struct dial *dial)
{
	free(dial->report);
	if (dial->query != NULL)
		dial->report = xprintf("looking up %s", dial->setup.address->host);
	else if (dial->failure != NULL)
		dial->report = xstrdup(dial->failure);
	else
		dial->report = report_attempts(dial);
	return dial->report;
}

const char *dial_peer(struct dial *dial)
{
	if (dial->winner == NULL)
		return "";
	free(dial->peer);
	dial->peer = address_show(&dial->winner->address);
	return dial->peer;
}

void dial_destroy(struct dial *dial)
{
	if (dial == NULL)
		return;
	resolve_cancel(dial->query);
	ev_timer_stop(dial->setup.loop, &dial->stagger);
	ev_clear_pending(dial->setup.loop, &dial->ended);
	for (size_t i = 0; i < dial->count; i++)
		drop(&dial->attempts[i]);
	if (dial->fd >= 0)
		(void)close(dial->fd);
	free(dial->attempts);
	free(dial->failure);
	free(dial->report);
	free(dial->peer);
	free(dial);
}
