// SPDX-License-Identifier: MIT
/* Lookups against a small name server on this loop: joining, keeping, retries, errors, changes. */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "probes/dial_address.h"
#include "probes/resolve.h"
#include "probes/resolve_conf.h"

/* The walker's part, as far as the kinds need it; their own test stands with the walker. */

static unsigned int problems;

static bool parse_list(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	static const char *items[8];

	(void)load;
	(void)field;
	for (size_t i = 0; i < node->count; i++)
		items[i] = node->items[i]->text;
	*(struct conf_strings *)member =
		(struct conf_strings){.items = items, .count = node->count};
	return true;
}

const struct conf_kind conf_list_of_strings = {.parse = parse_list};
const struct conf_kind conf_duration, conf_count;

bool conf_error(struct conf_load *load, const struct conf_node *node, const char *format, ...)
{
	(void)load;
	(void)node;
	(void)format;
	problems++;
	return false;
}

/* The name server. The first label says how a name is answered. */

#define A 1
#define AAAA 28

static struct {
	int fd;
	unsigned int port;
	ev_io io;
	unsigned int asked[2]; /* A, AAAA */
	unsigned int deaf; /* questions still to be dropped */
} server;

static size_t add_record(unsigned char *at, uint16_t type, unsigned int ttl, unsigned char last)
{
	size_t size = type == A ? 4 : 16;

	memset(at, 0, 12 + size);
	at[0] = 0xC0; /* the name of the question */
	at[1] = 12;
	at[3] = (unsigned char)type;
	at[5] = 1;
	at[9] = (unsigned char)ttl;
	at[11] = (unsigned char)size;
	at[12] = type == A ? 192 : 0x20; /* 192.0.2.x, 2001::x */
	at[13] = type == A ? 0 : 0x01;
	if (type == A)
		at[14] = 2;
	at[12 + size - 1] = last;
	return 12 + size;
}

static void on_question(struct ev_loop *loop, ev_io *io, int events)
{
	unsigned char packet[512];
	char label[64] = "";
	struct sockaddr_in from;
	socklen_t from_length = sizeof(from);
	ssize_t got = recvfrom(
		io->fd, packet, sizeof(packet) - 200, 0, (struct sockaddr *)&from, &from_length);
	size_t end = 12;
	uint16_t type;
	unsigned int ttl = 60;

	(void)loop;
	(void)events;
	assert_true(got >= 17);
	memcpy(label, packet + 13, packet[12]);
	while (packet[end] != 0)
		end += packet[end] + 1U;
	type = packet[end + 2];
	end += 5;
	server.asked[type == AAAA]++;
	if (server.deaf > 0) {
		server.deaf--;
		return;
	}
	if (strcmp(label, "silent") == 0 || (strcmp(label, "slow6") == 0 && type == AAAA))
		return;
	packet[2] = 0x81;
	packet[3] = 0x80;
	packet[6] = packet[7] = packet[8] = packet[9] = packet[10] = packet[11] = 0;
	if (strcmp(label, "nx") == 0)
		packet[3] |= 3;
	if (strcmp(label, "fail") == 0)
		packet[3] |= 2;
	if (strcmp(label, "zero") == 0)
		ttl = 0;
	if (strcmp(label, "short") == 0)
		ttl = 1;
	if ((packet[3] & 15) == 0 && *label != '\0' && strcmp(label, "none") != 0 &&
		!(type == AAAA && strcmp(label, "both") != 0)) {
		packet[7] = 2;
		end += add_record(packet + end, type, ttl, 1);
		end += add_record(packet + end, type, ttl, 2);
	}
	(void)sendto(io->fd, packet, end, 0, (struct sockaddr *)&from, from_length);
}

static void open_server(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);

	server.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_return_code(bind(server.fd, (struct sockaddr *)&address, length), errno);
	assert_return_code(getsockname(server.fd, (struct sockaddr *)&address, &length), errno);
	server.port = ntohs(address.sin_port);
	ev_io_init(&server.io, on_question, server.fd, EV_READ);
	ev_io_start(EV_DEFAULT_ & server.io);
}

static void write_resolv_conf(const char *text)
{
	FILE *file = fopen(resolve_conf_file, "w");

	assert_non_null(file);
	(void)fputs(text, file);
	(void)fclose(file);
}

static void set_up(unsigned int tries)
{
	char text[64];
	const char *const items[] = {text, NULL};
	struct resolve_conf conf = {
		.servers = {.items = items, .count = 1}, .timeout = 0.1, .tries = tries};

	(void)snprintf(text, sizeof(text), "127.0.0.1:%u", server.port);
	write_resolv_conf("nameserver 127.0.0.99\n");
	resolve_setup(EV_DEFAULT, &conf);
	server.asked[0] = server.asked[1] = server.deaf = 0;
}

struct lookup {
	struct resolve_query *query;
	unsigned int done;
	size_t count;
	char error[80];
	char addresses[512];
};

static void on_done(void *owner, const struct resolve_answer *answer)
{
	struct lookup *lookup = owner;

	ev_break(EV_DEFAULT_ EVBREAK_ONE);
	lookup->query = NULL;
	lookup->done++;
	lookup->count = answer->count;
	lookup->addresses[0] = '\0';
	if (answer->count == 0)
		(void)snprintf(lookup->error, sizeof(lookup->error), "%s", answer->error);
	for (size_t i = 0; i < answer->count; i++) {
		char *one = address_show(&answer->addresses[i]);

		strncat(lookup->addresses, one,
			sizeof(lookup->addresses) - strlen(lookup->addresses) - 1);
		strncat(lookup->addresses, " ",
			sizeof(lookup->addresses) - strlen(lookup->addresses) - 1);
		free(one);
	}
}

static void start(struct lookup *lookup, const char *host, int family)
{
	*lookup = (struct lookup){0};
	lookup->query = resolve_start(EV_DEFAULT, host, family, on_done, lookup);
	assert_int_equal(lookup->done, 0);
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)timer;
	(void)events;
	ev_break(loop, EVBREAK_ALL);
}

/* Runs the loop until the lookup is done, or for that many seconds. */
static double run(const struct lookup *lookup, double longest)
{
	double begin = clock_monotonic();
	ev_timer limit;

	ev_now_update(EV_DEFAULT); /* a loop that has not run for a while has an old clock */
	ev_timer_init(&limit, on_limit, longest, 0);
	ev_timer_start(EV_DEFAULT_ & limit);
	while ((lookup == NULL || lookup->done == 0) && clock_monotonic() - begin < longest)
		ev_run(EV_DEFAULT_ EVRUN_ONCE);
	ev_timer_stop(EV_DEFAULT_ & limit);
	return clock_monotonic() - begin;
}

static struct lookup look_up(const char *host, int family)
{
	static struct lookup lookup;

	start(&lookup, host, family);
	(void)run(&lookup, 5);
	assert_int_equal(lookup.done, 1);
	return lookup;
}

static void both_families_come_in_turn(void **state)
{
	(void)state;
	set_up(2);
	/* Once before: valgrind takes longer over code that is new to it than we wait. */
	(void)look_up("both.test", AF_UNSPEC);
	set_up(2);
	assert_string_equal(look_up("both.test", AF_UNSPEC).addresses,
		"[2001::1]:0 192.0.2.1:0 [2001::2]:0 192.0.2.2:0 ");
	assert_string_equal(look_up("both.test", AF_INET6).addresses, "[2001::1]:0 [2001::2]:0 ");
	assert_string_equal(look_up("one.test", AF_UNSPEC).addresses, "192.0.2.1:0 192.0.2.2:0 ");
	assert_string_equal(look_up("one.test", AF_INET).addresses, "192.0.2.1:0 192.0.2.2:0 ");
}

static void each_failure_has_its_text(void **state)
{
	static const struct {
		const char *host;
		int family;
		const char *error;
	} cases[] = {
		{"nx.test", AF_UNSPEC, "no such name"},
		{"nx.test", AF_INET, "no such name"},
		{"none.test", AF_UNSPEC, "the name has no such address"},
		{"one.test", AF_INET6, "the name has no such address"},
		{"fail.test", AF_UNSPEC, "the name servers fail or cannot be reached"},
		{"silent.test", AF_UNSPEC, "no answer from the name servers"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lookup lookup;

		set_up(2);
		lookup = look_up(cases[i].host, cases[i].family);
		assert_int_equal(lookup.count, 0);
		assert_string_equal(lookup.error, cases[i].error);
	}
}

static void equal_lookups_are_one_and_are_kept(void **state)
{
	struct lookup first, second, third;

	(void)state;
	set_up(2);
	start(&first, "one.test", AF_INET);
	start(&second, "ONE.test", AF_INET);
	(void)run(&second, 2);
	(void)run(&first, 2);
	assert_string_equal(first.addresses, "192.0.2.1:0 192.0.2.2:0 ");
	assert_string_equal(second.addresses, first.addresses);
	third = look_up("one.test", AF_INET);
	assert_string_equal(third.addresses, first.addresses);
	assert_int_equal(server.asked[0], 1);
}

static void answers_are_kept_no_longer_than_their_ttl(void **state)
{
	(void)state;
	set_up(2);
	(void)look_up("zero.test", AF_INET);
	(void)look_up("zero.test", AF_INET);
	assert_int_equal(server.asked[0], 2);
	(void)look_up("short.test", AF_INET);
	(void)look_up("short.test", AF_INET);
	assert_int_equal(server.asked[0], 3);
	(void)run(NULL, 1.2);
	(void)look_up("short.test", AF_INET);
	assert_int_equal(server.asked[0], 4);
}

static void failures_are_not_kept(void **state)
{
	(void)state;
	set_up(2);
	(void)look_up("nx.test", AF_INET);
	(void)look_up("nx.test", AF_INET);
	assert_int_equal(server.asked[0], 2);
}

static void a_silent_family_does_not_hold_the_other_back(void **state)
{
	struct lookup lookup;

	(void)state;
	set_up(5);
	start(&lookup, "slow6.test", AF_UNSPEC);
	assert_true(run(&lookup, 3) < 0.3);
	assert_string_equal(lookup.addresses, "192.0.2.1:0 192.0.2.2:0 ");
}

static void a_lost_question_is_asked_again(void **state)
{
	(void)state;
	set_up(3);
	server.deaf = 1;
	assert_int_equal(look_up("one.test", AF_INET).count, 2);
	assert_int_equal(server.asked[0], 2);
}

static void a_cancelled_lookup_tells_nobody_and_is_joined(void **state)
{
	struct lookup gone, kept, last;

	(void)state;
	set_up(2);
	start(&gone, "silent.test", AF_INET);
	(void)run(&gone, 0.05);
	resolve_cancel(gone.query);
	start(&kept, "silent.test", AF_INET);
	(void)run(&kept, 3);
	assert_int_equal(gone.done, 0);
	assert_string_equal(kept.error, "no answer from the name servers");
	assert_int_equal(server.asked[0], 2);
	/* Cancelled when the answer is there, but not yet told. */
	set_up(2);
	(void)look_up("one.test", AF_INET);
	start(&last, "one.test", AF_INET);
	resolve_cancel(last.query);
	(void)run(NULL, 0.05);
	assert_int_equal(last.done, 0);
	resolve_cancel(NULL);
}

static void localhost_never_leaves_the_machine(void **state)
{
	(void)state;
	set_up(2);
	assert_non_null(strstr(look_up("localhost", AF_UNSPEC).addresses, "127.0.0.1:0"));
	assert_string_equal(look_up("web.localhost", AF_INET).addresses, "127.0.0.1:0 ");
	assert_string_equal(look_up("web.localhost.", AF_INET6).addresses, "[::1]:0 ");
	assert_string_equal(look_up("web.localhost", AF_UNSPEC).addresses, "[::1]:0 127.0.0.1:0 ");
	assert_int_equal(server.asked[0] + server.asked[1], 0);
	assert_string_equal(look_up("nx.notlocalhost", AF_INET).error, "no such name");
	assert_int_equal(server.asked[0], 1);
}

/* resolv.conf says another domain to search: seen within a second, and by nobody in flight. */
static void a_changed_resolv_conf_counts(void **state)
{
	struct lookup lookup, old;

	(void)state;
	set_up(1);
	assert_int_equal(look_up("nx.test", AF_INET).count, 0);
	assert_int_equal(look_up("one.test", AF_INET).count, 2);
	start(&old, "silent.test", AF_INET);
	write_resolv_conf("nameserver 127.0.0.99\nsearch example.test\noptions ndots:3\n");
	(void)run(NULL, 1.1);
	server.asked[0] = 0;
	lookup = look_up("nx.test", AF_INET);
	assert_string_equal(lookup.error, "no such name");
	assert_int_equal(server.asked[0], 2); /* nx.test.example.test, then nx.test */
	/* What was kept is asked for again, at the search domain first. */
	server.asked[0] = 0;
	assert_int_equal(look_up("one.test", AF_INET).count, 2);
	assert_int_equal(server.asked[0], 1);
	(void)run(&old, 2);
	assert_string_equal(old.error, "no answer from the name servers");
}

static void finishing_calls_nobody(void **state)
{
	struct lookup lookup;

	(void)state;
	set_up(5);
	start(&lookup, "silent.test", AF_UNSPEC);
	(void)run(&lookup, 0.05);
	resolve_cancel(lookup.query);
	resolve_finish();
	(void)run(NULL, 0.05);
	assert_int_equal(lookup.done, 0);
	/* And it can begin again. */
	set_up(1);
	assert_int_equal(look_up("one.test", AF_INET).count, 2);
}

static void nonsense_is_no_name(void **state)
{
	char host[300];

	(void)state;
	set_up(1);
	memset(host, 'a', sizeof(host) - 1);
	host[sizeof(host) - 1] = '\0';
	assert_int_equal(look_up(host, AF_UNSPEC).count, 0);
	assert_int_equal(look_up("a..b", AF_UNSPEC).count, 0);
	assert_int_equal(look_up("", AF_UNSPEC).count, 0);
}

static void servers_are_addresses(void **state)
{
	static const struct {
		const char *text, *server; /* NULL: refused */
	} cases[] = {
		{"192.0.2.1", "192.0.2.1:53"},
		{"192.0.2.1:5353", "192.0.2.1:5353"},
		{"2001:db8::1", "[2001:db8::1]:53"},
		{"[2001:db8::1]", "[2001:db8::1]:53"},
		{"[2001:db8::1]:5353", "[2001:db8::1]:5353"},
		{"dns.test", NULL},
		{"192.0.2.1:", NULL},
		{"192.0.2.1:0", NULL},
		{"192.0.2.1:65536", NULL},
		{"192.0.2.1:53x", NULL},
		{"[2001:db8::1", NULL},
		{"[2001:db8::1]x", NULL},
		{"fe80::1%lo", NULL},
		{"192.0.2", NULL},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct conf_node item = {.type = CONF_SCALAR, .text = cases[i].text};
		struct conf_node *items[] = {&item};
		struct conf_node node = {.type = CONF_SEQUENCE, .items = items, .count = 1};
		struct conf_strings servers;
		char *text;

		problems = 0;
		(void)resolve_fields[0].kind->parse(NULL, &resolve_fields[0], &node, &servers);
		if (problems != (cases[i].server == NULL))
			fail_msg("'%s'", cases[i].text);
		text = resolve_servers(&servers);
		if (cases[i].server == NULL)
			assert_null(text);
		else
			assert_string_equal(text, cases[i].server);
		free(text);
	}
}

static int begin(void **state)
{
	(void)state;
	resolve_conf_file = "test_resolve.conf";
	(void)ev_default_loop(0);
	open_server();
	return 0;
}

static int end(void **state)
{
	(void)state;
	resolve_finish();
	(void)unlink(resolve_conf_file);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_families_come_in_turn),
		cmocka_unit_test(each_failure_has_its_text),
		cmocka_unit_test(equal_lookups_are_one_and_are_kept),
		cmocka_unit_test(answers_are_kept_no_longer_than_their_ttl),
		cmocka_unit_test(failures_are_not_kept),
		cmocka_unit_test(a_silent_family_does_not_hold_the_other_back),
		cmocka_unit_test(a_lost_question_is_asked_again),
		cmocka_unit_test(a_cancelled_lookup_tells_nobody_and_is_joined),
		cmocka_unit_test(localhost_never_leaves_the_machine),
		cmocka_unit_test(a_changed_resolv_conf_counts),
		cmocka_unit_test(finishing_calls_nobody),
		cmocka_unit_test(nonsense_is_no_name),
		cmocka_unit_test(servers_are_addresses),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
