// SPDX-License-Identifier: MIT
/* Lookups against a small name server: joining, keeping, retries, errors, changes. */
#include "tests/unit/dns_bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/dial_address.h"
#include "probes/resolve_conf.h"

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

/* What a probe that asks by itself has to ask: as resolv.conf says now, or as configured. */
static void the_servers_are_told(void **state)
{
	static const struct resolve_conf by_the_system = {.timeout = 0.1, .tries = 1};
	static const char *const wanted[] = {"127.0.0.98:53", "[::1]:53"};
	struct sockaddr_storage servers[4];

	(void)state;
	set_up(1);
	assert_int_equal(resolve_servers_now(EV_DEFAULT, servers, 4), 1);
	assert_int_equal(address_port(&servers[0]), server.port);
	resolve_setup(EV_DEFAULT, &by_the_system);
	assert_int_equal(resolve_servers_now(EV_DEFAULT, servers, 4), 1);
	write_resolv_conf("nameserver 127.0.0.98\nnameserver ::1\n");
	(void)run(NULL, 1.1);
	assert_int_equal(resolve_servers_now(EV_DEFAULT, servers, 4), 2);
	for (size_t i = 0; i < 2; i++) {
		char *text = address_show(&servers[i]);

		assert_string_equal(text, wanted[i]);
		free(text);
	}
	assert_int_equal(resolve_servers_now(EV_DEFAULT, servers, 1), 1);
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
		cmocka_unit_test(the_servers_are_told),
		cmocka_unit_test(finishing_calls_nobody),
		cmocka_unit_test(nonsense_is_no_name),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
