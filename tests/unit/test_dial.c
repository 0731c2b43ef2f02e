// SPDX-License-Identifier: MIT
/* Connecting over all addresses: order, stagger, reports, local faults, ownership of descriptors.
 */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "probes/clock.h"
#include "probes/dial.h"
#include "probes/dial_address.h"
#include "probes/resolve.h"

int __real_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *length);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length);

/* A resolver that answers what the test says. */

static struct sockaddr_storage answers[40];
static size_t answer_count;
static const char *answer_error;
static int asked_family;
static bool silent, cancelled;

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
		&(struct resolve_answer){
			.addresses = answers, .count = answer_count, .error = answer_error});
}

struct resolve_query *resolve_start(struct ev_loop *loop, const char *host, int family,
	void (*done)(void *owner, const struct resolve_answer *answer), void *owner)
{
	assert_string_equal(host, "db.internal");
	asked_family = family;
	query.done = done;
	query.owner = owner;
	ev_init(&query.told, tell);
	if (!silent)
		ev_feed_event(loop, &query.told, EV_CUSTOM);
	return &query;
}

void resolve_cancel(struct resolve_query *to_cancel)
{
	cancelled |= to_cancel != NULL;
}

static int fail_socket, fail_option;

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

static int listen_on(const char *host, int backlog, unsigned int *ret_port)
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

static unsigned int open_descriptors(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void answer_with(const char *const *hosts)
{
	answer_count = 0;
	for (; *hosts != NULL; hosts++)
		assert_true(address_parse(*hosts, &answers[answer_count++]));
}

struct dialled {
	struct dial *dial;
	int fd;
	enum probe_reason reason;
	unsigned int connecting, done;
	double took;
};

static void on_connecting(void *owner)
{
	((struct dialled *)owner)->connecting++;
}

static void on_done(void *owner, int fd, enum probe_reason reason)
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

/* Dials and runs the loop until it is over, at most for `longest` seconds. */
static struct dialled dial_with(
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
		.done = on_done,
		.owner = &dialled,
	});
	assert_int_equal(dialled.done, 0);
	ev_run(EV_DEFAULT_ 0);
	dialled.took = clock_monotonic() - start;
	ev_timer_stop(EV_DEFAULT_ & limit);
	return dialled;
}

static struct dialled dial_host(const char *host, unsigned int port)
{
	return dial_with(&(struct conf_address){.host = host, .port = port}, DIAL_ANY, 0, 2);
}

static void an_address_connects_without_a_lookup(void **state)
{
	unsigned int port;
	unsigned int before = open_descriptors();
	int listener = listen_on("127.0.0.1", 4, &port);
	struct dialled dialled = dial_host("127.0.0.1", port);
	char peer[64];

	(void)state;
	(void)snprintf(peer, sizeof(peer), "127.0.0.1:%u", port);
	assert_int_equal(dialled.reason, REASON_NONE);
	assert_int_equal(dialled.connecting, 1);
	assert_int_equal(dialled.done, 1);
	assert_true(dialled.fd >= 0);
	assert_int_equal(fcntl(dialled.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fcntl(dialled.fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_string_equal(dial_peer(dialled.dial), peer);
	dial_destroy(dialled.dial);
	/* It is the caller's: destroying the dial leaves it open. */
	assert_int_equal(send(dialled.fd, "x", 1, MSG_NOSIGNAL), 1);
	close(dialled.fd);
	close(listener);
	assert_int_equal(open_descriptors(), before);
}

/* libcurl 7.88 connects a second time: the first answer must still be there. */
static void the_answer_to_a_second_connect_is_left(void **state)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(1)};
	unsigned int port;
	int listener = listen_on("127.0.0.1", 4, &port);
	struct dialled dialled = dial_host("127.0.0.1", port);

	(void)state;
	assert_int_equal(connect(dialled.fd, (struct sockaddr *)&any, sizeof(any)), 0);
	close(dialled.fd);
	dial_destroy(dialled.dial);
	close(listener);
}

static void a_refusal_names_address_and_cause(void **state)
{
	unsigned int port;
	int listener = listen_on("127.0.0.1", 4, &port);
	struct dialled dialled;
	char report[80];

	(void)state;
	close(listener);
	dialled = dial_host("127.0.0.1", port);
	(void)snprintf(report, sizeof(report), "127.0.0.1:%u Connection refused", port);
	assert_int_equal(dialled.fd, -1);
	assert_int_equal(dialled.reason, REASON_CONNECT);
	assert_string_equal(dial_report(dialled.dial), report);
	assert_string_equal(dial_peer(dialled.dial), "");
	dial_destroy(dialled.dial);
}

static void a_dead_first_address_does_not_hide_the_second(void **state)
{
	unsigned int port;
	int listener = listen_on("127.0.0.1", 4, &port);
	struct dialled dialled;
	char report[120];

	(void)state;
	answer_with((const char *const[]){"127.0.0.8", "127.0.0.1", NULL});
	dialled = dial_host("db.internal", port);
	(void)snprintf(report, sizeof(report),
		"127.0.0.8:%u Connection refused, 127.0.0.1:%u connected", port, port);
	assert_int_equal(dialled.reason, REASON_NONE);
	assert_string_equal(dial_report(dialled.dial), report);
	assert_true(dialled.took < 0.2);
	assert_int_equal(asked_family, AF_UNSPEC);
	close(dialled.fd);
	dial_destroy(dialled.dial);
	close(listener);
}

/* A listener whose queue is full drops SYNs. */
struct deaf {
	int listener, queued[4];
	unsigned int port;
};

static void make_deaf(struct deaf *deaf, const char *host)
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

static void end_deaf(struct deaf *deaf)
{
	for (size_t i = 0; i < 4; i++)
		close(deaf->queued[i]);
	close(deaf->listener);
}

static void an_address_that_swallows_syns_costs_one_stagger(void **state)
{
	struct deaf deaf;
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct dialled dialled;
	char report[120];
	int listener;
	unsigned int before = open_descriptors();

	(void)state;
	make_deaf(&deaf, "127.0.0.2");
	address.sin_addr.s_addr = inet_addr("127.0.0.3");
	address.sin_port = htons((uint16_t)deaf.port);
	listener = __real_socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_return_code(bind(listener, (struct sockaddr *)&address, sizeof(address)), errno);
	assert_return_code(listen(listener, 4), errno);
	answer_with((const char *const[]){"127.0.0.2", "127.0.0.3", NULL});
	dialled = dial_host("db.internal", deaf.port);
	(void)snprintf(report, sizeof(report), "127.0.0.2:%u no answer, 127.0.0.3:%u connected",
		deaf.port, deaf.port);
	assert_int_equal(dialled.reason, REASON_NONE);
	assert_string_equal(dial_report(dialled.dial), report);
	assert_true(dialled.took > 0.2 && dialled.took < 1.0);
	close(dialled.fd);
	dial_destroy(dialled.dial);
	close(listener);
	end_deaf(&deaf);
	assert_int_equal(open_descriptors(), before);
}

/* With a short deadline the stagger shrinks: the last of 16 has its turn. */
static void every_address_has_its_turn_before_the_deadline(void **state)
{
	struct dialled dialled;
	struct deaf deaf;
	const char *hosts[17] = {NULL};

	(void)state;
	make_deaf(&deaf, "127.0.0.2");
	for (size_t i = 0; i < 16; i++)
		hosts[i] = "127.0.0.2";
	answer_with(hosts);
	dialled = dial_with(&(struct conf_address){.host = "db.internal", .port = deaf.port},
		DIAL_ANY, 0.8, 0.6);
	assert_int_equal(dialled.done, 0);
	assert_null(strstr(dial_report(dialled.dial), "not tried yet"));
	dial_destroy(dialled.dial);
	end_deaf(&deaf);
}

static void all_dead_lists_each(void **state)
{
	unsigned int port;
	int listener = listen_on("127.0.0.9", 1, &port);
	struct dialled dialled;
	char report[120];

	(void)state;
	answer_with((const char *const[]){"127.0.0.8", "127.0.0.1", NULL});
	dialled = dial_host("db.internal", port);
	(void)snprintf(report, sizeof(report),
		"127.0.0.8:%u Connection refused, 127.0.0.1:%u Connection refused", port, port);
	assert_int_equal(dialled.reason, REASON_CONNECT);
	assert_string_equal(dial_report(dialled.dial), report);
	dial_destroy(dialled.dial);
	close(listener);
}

static void more_addresses_than_the_limit_are_said(void **state)
{
	struct dialled dialled;

	(void)state;
	for (answer_count = 0; answer_count < 20; answer_count++)
		assert_true(address_parse("127.0.0.9", &answers[answer_count]));
	dialled = dial_host("db.internal", 1);
	assert_int_equal(dialled.reason, REASON_CONNECT);
	assert_non_null(strstr(dial_report(dialled.dial), ", 4 more not tried"));
	dial_destroy(dialled.dial);
}

static void a_failed_lookup_gives_its_cause(void **state)
{
	struct dialled dialled;

	(void)state;
	answer_count = 0;
	answer_error = "no such name";
	dialled = dial_host("db.internal", 80);
	assert_int_equal(dialled.reason, REASON_RESOLVE);
	assert_int_equal(dialled.connecting, 0);
	assert_string_equal(dial_report(dialled.dial), "db.internal: no such name");
	dial_destroy(dialled.dial);
}

static void a_pending_lookup_is_said_and_cancelled(void **state)
{
	struct dialled dialled;

	(void)state;
	silent = true;
	cancelled = false;
	dialled = dial_with(
		&(struct conf_address){.host = "db.internal", .port = 1}, DIAL_V6, 0, 0.01);
	silent = false;
	assert_int_equal(dialled.done, 0);
	assert_int_equal(asked_family, AF_INET6);
	assert_string_equal(dial_report(dialled.dial), "looking up db.internal");
	dial_destroy(dialled.dial);
	assert_true(cancelled);
}

static void an_address_of_the_wrong_family_is_refused(void **state)
{
	struct dialled dialled =
		dial_with(&(struct conf_address){.host = "127.0.0.1", .port = 1}, DIAL_V6, 0, 1);

	(void)state;
	assert_int_equal(dialled.reason, REASON_RESOLVE);
	assert_string_equal(dial_report(dialled.dial), "127.0.0.1: not an IPv6 address");
	dial_destroy(dialled.dial);
}

static void no_descriptor_is_a_local_fault(void **state)
{
	struct dialled dialled;

	(void)state;
	fail_socket = EMFILE;
	dialled = dial_host("127.0.0.1", 80);
	fail_socket = 0;
	assert_int_equal(dialled.reason, REASON_LOCAL);
	assert_string_equal(dial_report(dialled.dial), "127.0.0.1:80 Too many open files");
	dial_destroy(dialled.dial);
}

static void an_unreadable_outcome_is_a_failure(void **state)
{
	unsigned int port;
	int listener = listen_on("127.0.0.1", 4, &port);
	struct dialled dialled;

	(void)state;
	fail_option = ENOBUFS;
	dialled = dial_host("127.0.0.1", port);
	fail_option = 0;
	assert_int_equal(dialled.fd, -1);
	assert_int_equal(dialled.reason, REASON_LOCAL);
	dial_destroy(dialled.dial);
	close(listener);
}

static void unix_sockets_connect_and_wait_for_a_full_queue(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "test_dial.socket"};
	struct conf_address to = {.path = "test_dial.socket"};
	int listener = __real_socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct dialled first, second;

	(void)state;
	(void)unlink(address.sun_path);
	assert_return_code(bind(listener, (struct sockaddr *)&address, sizeof(address)), errno);
	assert_return_code(listen(listener, 0), errno);
	first = dial_with(&to, DIAL_ANY, 0, 1);
	assert_true(first.fd >= 0);
	assert_string_equal(dial_peer(first.dial), "test_dial.socket");
	second = dial_with(&to, DIAL_ANY, 0, 0.12);
	assert_int_equal(second.done, 0);
	assert_string_equal(
		dial_report(second.dial), "test_dial.socket Resource temporarily unavailable");
	dial_destroy(second.dial);
	dial_destroy(first.dial);
	close(first.fd);
	close(listener);
	(void)unlink(address.sun_path);
	first = dial_with(&to, DIAL_ANY, 0, 1);
	assert_int_equal(first.reason, REASON_CONNECT);
	assert_string_equal(dial_report(first.dial), "test_dial.socket No such file or directory");
	dial_destroy(first.dial);
}

static void a_socket_path_too_long_is_said(void **state)
{
	char path[200];
	struct dialled dialled;

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	dialled = dial_with(&(struct conf_address){.path = path}, DIAL_ANY, 0, 1);
	assert_int_equal(dialled.reason, REASON_RESOLVE);
	assert_non_null(strstr(dial_report(dialled.dial), "File name too long"));
	dial_destroy(dialled.dial);
}

/* Destroyed between the connection and the call of done: nobody else closes it. */
static void destroying_early_closes_the_connection(void **state)
{
	unsigned int port;
	int listener = listen_on("127.0.0.1", 4, &port);
	struct conf_address to = {.host = "127.0.0.1", .port = port};
	struct dialled dialled = {0};
	unsigned int before = open_descriptors();

	(void)state;
	dialled.dial = dial_start(&(struct dial_setup){
		.loop = EV_DEFAULT, .address = &to, .done = on_done, .owner = &dialled});
	dial_destroy(dialled.dial);
	ev_run(EV_DEFAULT_ EVRUN_NOWAIT);
	assert_int_equal(dialled.done, 0);
	assert_int_equal(open_descriptors(), before);
	dial_destroy(NULL);
	close(listener);
}

static void zones_are_part_of_an_address(void **state)
{
	struct sockaddr_storage address;
	char *text;

	(void)state;
	assert_true(address_parse("fe80::1%lo", &address));
	address_set_port(&address, 25);
	text = address_show(&address);
	assert_string_equal(text, "[fe80::1%lo]:25");
	free(text);
	assert_false(address_parse("127.0.0.1%lo", &address));
	assert_false(address_parse("127.1", &address));
	assert_false(address_parse("0177.0.0.1", &address));
	assert_false(address_parse("", &address));
	assert_false(address_parse("localhost", &address));
}

/* Before descriptors are counted. */
static int make_loop(void **state)
{
	(void)state;
	return ev_default_loop(0) == NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_connects_without_a_lookup),
		cmocka_unit_test(the_answer_to_a_second_connect_is_left),
		cmocka_unit_test(a_refusal_names_address_and_cause),
		cmocka_unit_test(a_dead_first_address_does_not_hide_the_second),
		cmocka_unit_test(an_address_that_swallows_syns_costs_one_stagger),
		cmocka_unit_test(every_address_has_its_turn_before_the_deadline),
		cmocka_unit_test(all_dead_lists_each),
		cmocka_unit_test(more_addresses_than_the_limit_are_said),
		cmocka_unit_test(a_failed_lookup_gives_its_cause),
		cmocka_unit_test(a_pending_lookup_is_said_and_cancelled),
		cmocka_unit_test(an_address_of_the_wrong_family_is_refused),
		cmocka_unit_test(no_descriptor_is_a_local_fault),
		cmocka_unit_test(an_unreadable_outcome_is_a_failure),
		cmocka_unit_test(unix_sockets_connect_and_wait_for_a_full_queue),
		cmocka_unit_test(a_socket_path_too_long_is_said),
		cmocka_unit_test(destroying_early_closes_the_connection),
		cmocka_unit_test(zones_are_part_of_an_address),
	};

	return cmocka_run_group_tests(tests, make_loop, NULL);
}
