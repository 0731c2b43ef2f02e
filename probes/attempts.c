// SPDX-License-Identifier: MIT
/* A name or address -> one connection: lookup, then staggered attempts of the caller's making. */
#include "probes/attempts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "config/arena.h"
#include "probes/dial_address.h"
#include "probes/resolve.h"

/* s: until a unix socket with a full queue is tried again. It has no event for "room again". */
#define RETRY_FULL_QUEUE 0.05

struct attempts {
	struct attempts_setup setup;
	struct resolve_query *query; /* NULL when looked up */
	unsigned char *items; /* count of setup.size bytes, each begins with a struct attempt */
	size_t count, begun, pending;
	size_t left_out; /* addresses beyond ATTEMPTS_MOST */
	struct attempt *winner;
	enum probe_reason reason;
	ev_timer stagger;
	ev_prepare ended; /* never started: carries the event that leads to done */
	char *failure; /* why there is no address at all; owned */
	char *report, *peer; /* as last told; owned */
};

static struct attempt *item(const struct attempts *attempts, size_t index)
{
	return (struct attempt *)(void *)(attempts->items + index * attempts->setup.size);
}

static void on_ended(struct ev_loop *loop, ev_prepare *watcher, int events)
{
	struct attempts *attempts = watcher->data;

	(void)loop;
	(void)events;
	attempts->setup.done(attempts->setup.owner, attempts->winner, attempts->reason);
}

/* Lets go of what is still connecting, and leads to done. */
static void end(struct attempts *attempts, struct attempt *winner, enum probe_reason reason)
{
	ev_timer_stop(attempts->setup.loop, &attempts->stagger);
	for (size_t i = 0; i < attempts->begun; i++) {
		if (item(attempts, i) != winner)
			attempts->setup.drop(item(attempts, i));
	}
	attempts->winner = winner;
	attempts->reason = reason;
	ev_feed_event(attempts->setup.loop, &attempts->ended, EV_CUSTOM);
}

static const char *cause(const struct attempt *attempt)
{
	return attempt->why != NULL ? attempt->why : strerror(attempt->error);
}

static bool has_failed(const struct attempt *attempt)
{
	return attempt->error != 0 || attempt->why != NULL;
}

static void trace_attempt(const struct attempt *attempt, const char *how)
{
	char *address;

	if (attempt->attempts->setup.trace == NULL)
		return;
	address = address_show(&attempt->address);
	trace_add(attempt->attempts->setup.trace, TRACE_ADDRESS, "%s %s", address, how);
	free(address);
}

static void succeed(struct attempt *attempt)
{
	trace_attempt(attempt, "connected");
	end(attempt->attempts, attempt, REASON_NONE);
}

/* Where one address could not be tried for want of ours, the target is not to blame. */
static enum probe_reason failure_reason(const struct attempts *attempts)
{
	for (size_t i = 0; i < attempts->count; i++) {
		int error = item(attempts, i)->error;

		if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM)
			return REASON_LOCAL;
	}
	return REASON_CONNECT;
}

void attempt_blame(struct attempt *attempt, int error, const char *why)
{
	attempt->attempts->setup.drop(attempt);
	attempt->error = error;
	free(attempt->why);
	attempt->why = why == NULL ? NULL : xstrdup(why);
	trace_attempt(attempt, cause(attempt));
}

int attempt_outcome(int fd)
{
	int error = 0;
	socklen_t length = sizeof(error);

	/* A second connect() would tell too, but curlev.c needs it unasked. */
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
		error = errno;
	return error;
}

static enum attempt_state begin(struct attempts *attempts)
{
	struct attempt *attempt = item(attempts, attempts->begun++);
	enum attempt_state state;

	attempt->error = 0;
	free(attempt->why);
	attempt->why = NULL;
	state = attempts->setup.open(attempt);
	if (state == ATTEMPT_CONNECTED)
		succeed(attempt);
	if (state == ATTEMPT_PENDING)
		attempts->pending++;
	if (state == ATTEMPT_FULL) {
		attempts->begun--;
		attempts->stagger.repeat = RETRY_FULL_QUEUE;
	}
	return state;
}

/* Begins attempts until one is under way, or none is left. */
static void connect_next(struct attempts *attempts)
{
	enum attempt_state state = ATTEMPT_FAILED;

	while (attempts->begun < attempts->count && state == ATTEMPT_FAILED)
		state = begin(attempts);
	if (state == ATTEMPT_CONNECTED)
		return;
	if (attempts->begun < attempts->count)
		ev_timer_again(attempts->setup.loop, &attempts->stagger);
	else
		ev_timer_stop(attempts->setup.loop, &attempts->stagger);
	if (attempts->begun == attempts->count && attempts->pending == 0)
		end(attempts, NULL, failure_reason(attempts));
}

void attempt_connected(struct attempt *attempt)
{
	attempt->attempts->pending--;
	succeed(attempt);
}

void attempt_failed(struct attempt *attempt, int error, const char *why)
{
	attempt->attempts->pending--;
	attempt_blame(attempt, error, why);
	connect_next(attempt->attempts);
}

static void on_stagger(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	connect_next(timer->data);
}

/* No address at all. failure is taken over. */
static void give_up(struct attempts *attempts, char *take_failure)
{
	attempts->failure = take_failure;
	trace_add(attempts->setup.trace, TRACE_ADDRESS, "%s", take_failure);
	end(attempts, NULL, REASON_RESOLVE);
}

static void connect_all(
	struct attempts *attempts, const struct sockaddr_storage *addresses, size_t count)
{
	double share;

	attempts->count = count < ATTEMPTS_MOST ? count : ATTEMPTS_MOST;
	attempts->left_out = count - attempts->count;
	attempts->items = xcalloc(attempts->count, attempts->setup.size);
	for (size_t i = 0; i < attempts->count; i++) {
		struct attempt *attempt = item(attempts, i);

		attempt->attempts = attempts;
		attempt->address = addresses[i];
		address_set_port(&attempt->address, attempts->setup.address->port);
	}
	share = attempts->setup.timeout / 2 / (double)attempts->count;
	attempts->stagger.repeat = share > 0 && share < ATTEMPTS_STAGGER ? share : ATTEMPTS_STAGGER;
	if (attempts->setup.connecting != NULL)
		attempts->setup.connecting(attempts->setup.owner);
	connect_next(attempts);
}

static void on_answer(void *owner, const struct resolve_answer *answer)
{
	struct attempts *attempts = owner;
	const char *host = attempts->setup.address->host;

	attempts->query = NULL;
	if (answer->count == 0) {
		give_up(attempts, xprintf("%s: %s", host, answer->error));
		return;
	}
	trace_add(attempts->setup.trace, TRACE_ADDRESS, "%s has %zu address%s", host, answer->count,
		answer->count == 1 ? "" : "es");
	connect_all(attempts, answer->addresses, answer->count);
}

static void connect_unix(struct attempts *attempts, const char *path)
{
	struct sockaddr_storage address = {0};
	struct sockaddr_un *un = (struct sockaddr_un *)&address;

	un->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(un->sun_path)) {
		give_up(attempts, xprintf("%s: %s", path, strerror(ENAMETOOLONG)));
		return;
	}
	memcpy(un->sun_path, path, strlen(path) + 1);
	connect_all(attempts, &address, 1);
}

struct attempts *attempts_start(const struct attempts_setup *setup)
{
	const struct conf_address *to = setup->address;
	struct attempts *attempts = xcalloc(1, sizeof(*attempts));
	struct sockaddr_storage address;

	attempts->setup = *setup;
	ev_init(&attempts->stagger, on_stagger);
	attempts->stagger.data = attempts;
	ev_init(&attempts->ended, on_ended);
	attempts->ended.data = attempts;
	if (to->path != NULL)
		connect_unix(attempts, to->path);
	else if (!address_parse(to->host, &address))
		attempts->query =
			resolve_start(setup->loop, to->host, setup->family, on_answer, attempts);
	else if (setup->family != AF_UNSPEC && setup->family != address.ss_family)
		give_up(attempts,
			xprintf("%s: not an %s address", to->host,
				setup->family == AF_INET ? "IPv4" : "IPv6"));
	else
		connect_all(attempts, &address, 1);
	return attempts;
}

void *attempts_owner(const struct attempt *attempt)
{
	return attempt->attempts->setup.owner;
}

struct ev_loop *attempts_loop(const struct attempt *attempt)
{
	return attempt->attempts->setup.loop;
}

static char *report_all(const struct attempts *attempts)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (stream == NULL)
		abort(); /* only for want of memory */
	for (size_t i = 0; i < attempts->count; i++) {
		const struct attempt *attempt = item(attempts, i);
		char *address = address_show(&attempt->address);
		const char *how = i < attempts->begun ? "no answer" : "not tried yet";

		if (attempt == attempts->winner)
			how = "connected";
		if (has_failed(attempt))
			how = cause(attempt);
		(void)fprintf(stream, "%s%s %s", i == 0 ? "" : ", ", address, how);
		free(address);
	}
	if (attempts->left_out > 0)
		(void)fprintf(stream, ", %zu more not tried", attempts->left_out);
	(void)fclose(stream);
	return text;
}

const char *attempts_report(struct attempts *attempts)
{
	free(attempts->report);
	if (attempts->query != NULL)
		attempts->report = xprintf("looking up %s", attempts->setup.address->host);
	else if (attempts->failure != NULL)
		attempts->report = xstrdup(attempts->failure);
	else
		attempts->report = report_all(attempts);
	return attempts->report;
}

const char *attempts_peer(struct attempts *attempts)
{
	if (attempts->winner == NULL)
		return "";
	free(attempts->peer);
	attempts->peer = address_show(&attempts->winner->address);
	return attempts->peer;
}

void attempts_destroy(struct attempts *attempts)
{
	if (attempts == NULL)
		return;
	resolve_cancel(attempts->query);
	ev_timer_stop(attempts->setup.loop, &attempts->stagger);
	ev_clear_pending(attempts->setup.loop, &attempts->ended);
	for (size_t i = 0; i < attempts->count; i++) {
		attempts->setup.drop(item(attempts, i));
		free(item(attempts, i)->why);
	}
	free(attempts->items);
	free(attempts->failure);
	free(attempts->report);
	free(attempts->peer);
	free(attempts);
}
