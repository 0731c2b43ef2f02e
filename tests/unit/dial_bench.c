// SPDX-License-Identifier: MIT
/* A resolver that says what the test wants, listeners, and one dial. */
#include "tests/unit/dial_bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

#include "probes/clock.h"
#include "probes/dial_address.h"
#include "probes/resolve.h"

int __real_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *length);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length);

/* A resolver that resolver.answers what the test says. */

struct fake_resolver resolver;

struct resolve_query {
	ev_prepare told;
	void (*done)(void *owner, const struct resolve_answer *answer);
	void *owner;
} query;

static void tell(struct ev_loop *loop, ev_prepare *watcher, int events)
{
	(void)loop;
	(void)watcher;
	(void)events;
	query.done(query.owner,
		&(struct resolve_answer){.addresses = resolver.answers,
			.count = resolver.count,
			.error = resolver.error});
}

struct resolve_query *resolve_start(struct ev_loop *loop, const char *host, int family,
	void (*done)(void *owner, const struct resolve_answer *answer), void *owner)
{
	assert_string_equal(host, "db.internal");
	resolver.asked_family = family;
	query.done = done;
	query.owner = owner;
	ev_init(&query.told, tell);
	if (!resolver.silent)
		ev_feed_event(loop, &query.told, EV_CUSTOM);
	return &query;
}

void resolve_cancel(struct resolve_query *to_cancel)
{
	resolver.cancelled |= to_cancel != NULL;
}

int fail_socket, fail_option;

int __wrap_socket(int family, int type, int protocol)
{
	if (fail_socket != 0) {
		errno = fail_socket;
		return -1;
	}
	return __real_socket(family, type, protocol);
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
	if (fail_option != 0) {
		errno = fail_option;
		return -1;
	}
	return __real_getsockopt(fd, level, name, value, length);
}

/* A listener, and how many descriptors are open. */

int listen_on(const char *host, int backlog, unsigned int *ret_port)
{
	struct sockaddr_storage address;
	socklen_t length;
	int fd;

	assert_true(address_parse(host, &address));
	length = address_length(&address);
	fd = __real_socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_return_code(bind(fd, (struct sockaddr *)&address, length), errno);
	assert_return_code(listen(fd, backlog), errno);
	assert_return_code(getsockname(fd, (struct sockaddr *)&address, &length), errno);
	*ret_port = ntohs(((struct sockaddr_in *)&address)->sin_port);
	return fd;
}

unsigned int open_descriptors(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

void answer_with(const char *const *hosts)
{
	resolver.count = 0;
	for (; *hosts != NULL; hosts++)
		assert_true(address_parse(*hosts, &resolver.answers[resolver.count++]));
}

static void on_connecting(void *owner)
{
	((struct dialled *)owner)->connecting++;
}

void note_dialled(void *owner, int fd, enum probe_reason reason)
{
	struct dialled *dialled = owner;

	dialled->done++;
	dialled->fd = fd;
	dialled->reason = reason;
	ev_break(EV_DEFAULT_ EVBREAK_ALL);
}

static void give_up(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)timer;
	(void)events;
	ev_break(loop, EVBREAK_ALL);
}

struct dialled dial_with(
	const struct conf_address *address, enum dial_family family, double timeout, double longest)
{
	static struct dialled dialled;
	ev_timer limit;
	double start;

	dialled = (struct dialled){.fd = -1};
	ev_now_update(EV_DEFAULT); /* a loop that has not run for a while has an old clock */
	ev_timer_init(&limit, give_up, longest, 0);
	ev_timer_start(EV_DEFAULT_ & limit);
	start = clock_monotonic();
	dialled.dial = dial_start(&(struct dial_setup){
		.loop = EV_DEFAULT,
		.address = address,
		.family = family,
		.timeout = timeout,
		.connecting = on_connecting,
		.done = note_dialled,
		.owner = &dialled,
	});
	assert_int_equal(dialled.done, 0);
	ev_run(EV_DEFAULT_ 0);
	dialled.took = clock_monotonic() - start;
	ev_timer_stop(EV_DEFAULT_ & limit);
	return dialled;
}

struct dialled dial_host(const char *host, unsigned int port)
{
	return dial_with(&(struct conf_address){.host = host, .port = port}, DIAL_ANY, 0, 2);
}

void make_deaf(struct deaf *deaf, const char *host)
{
	struct sockaddr_storage address;

	deaf->listener = listen_on(host, 0, &deaf->port);
	assert_true(address_parse(host, &address));
	address_set_port(&address, deaf->port);
	for (size_t i = 0; i < 4; i++) {
		deaf->queued[i] = __real_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)connect(deaf->queued[i], (struct sockaddr *)&address, sizeof(address));
	}
}

void end_deaf(struct deaf *deaf)
{
	for (size_t i = 0; i < 4; i++)
		close(deaf->queued[i]);
	close(deaf->listener);
}
