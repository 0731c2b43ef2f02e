// SPDX-License-Identifier: MIT
/* Connecting over all addresses: order, stagger, reports, local faults, ownership of descriptors.
 */
#include "tests/unit/dial_bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "probes/dial_address.h"

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
	assert_int_equal(resolver.asked_family, AF_UNSPEC);
	close(dialled.fd);
	dial_destroy(dialled.dial);
	close(listener);
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
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
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
	for (resolver.count = 0; resolver.count < 20; resolver.count++)
		assert_true(address_parse("127.0.0.9", &resolver.answers[resolver.count]));
	dialled = dial_host("db.internal", 1);
	assert_int_equal(dialled.reason, REASON_CONNECT);
	assert_non_null(strstr(dial_report(dialled.dial), ", 4 more not tried"));
	dial_destroy(dialled.dial);
}

static void a_failed_lookup_gives_its_cause(void **state)
{
	struct dialled dialled;

	(void)state;
	resolver.count = 0;
	resolver.error = "no such name";
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
	resolver.silent = true;
	resolver.cancelled = false;
	dialled = dial_with(
		&(struct conf_address){.host = "db.internal", .port = 1}, DIAL_V6, 0, 0.01);
	resolver.silent = false;
	assert_int_equal(dialled.done, 0);
	assert_int_equal(resolver.asked_family, AF_INET6);
	assert_string_equal(dial_report(dialled.dial), "looking up db.internal");
	dial_destroy(dialled.dial);
	assert_true(resolver.cancelled);
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
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
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
		.loop = EV_DEFAULT, .address = &to, .done = note_dialled, .owner = &dialled});
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
