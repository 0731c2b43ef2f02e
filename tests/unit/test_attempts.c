// SPDX-License-Identifier: MIT
/* Attempts of a library's making: who wins, who is dropped and when, what the report says. */
#include "tests/unit/dial_bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probes/attempts.h"

/* What becomes of the attempt on 127.0.0.N. */
enum fate {
	FATE_PENDING,
	FATE_CONNECTED,
	FATE_REFUSED, /* at once, with an errno */
	FATE_SAYS_WHY, /* at once, with a text of the library's own */
	FATE_LATER, /* connected in the next pass of the loop */
	FATE_FAILS_LATER,
	FATE_NO_MEMORY,
};

struct one {
	struct attempt attempt;
	ev_timer later;
	bool is_open;
};

static struct {
	enum fate fates[8]; /* by the last number of the address */
	unsigned int opened, dropped, connecting, done;
	struct attempt *winner;
	enum probe_reason reason;
	bool winner_was_open;
} bench;

static unsigned int last_number(const struct attempt *attempt)
{
	return ntohl(((const struct sockaddr_in *)&attempt->address)->sin_addr.s_addr) & 0x7;
}

static void on_later(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct one *one = timer->data;

	(void)loop;
	(void)events;
	if (bench.fates[last_number(&one->attempt)] == FATE_LATER)
		attempt_connected(&one->attempt);
	else
		attempt_failed(&one->attempt, ECONNREFUSED, NULL);
}

static enum attempt_state open_one(struct attempt *attempt)
{
	struct one *one = (struct one *)attempt;

	bench.opened++;
	assert_ptr_equal(attempts_owner(attempt), &bench);
	assert_int_equal(ntohs(((struct sockaddr_in *)&attempt->address)->sin_port), 5432);
	one->is_open = true;
	ev_timer_init(&one->later, on_later, 0, 0);
	one->later.data = one;
	switch (bench.fates[last_number(attempt)]) {
	case FATE_CONNECTED:
		return ATTEMPT_CONNECTED;
	case FATE_REFUSED:
		attempt_blame(attempt, ECONNREFUSED, NULL);
		return ATTEMPT_FAILED;
	case FATE_NO_MEMORY:
		attempt_blame(attempt, ENOMEM, NULL);
		return ATTEMPT_FAILED;
	case FATE_SAYS_WHY:
		attempt_blame(attempt, 0, "not today");
		return ATTEMPT_FAILED;
	case FATE_LATER:
	case FATE_FAILS_LATER:
		ev_timer_start(attempts_loop(attempt), &one->later);
		return ATTEMPT_PENDING;
	default:
		return ATTEMPT_PENDING;
	}
}

static void drop_one(struct attempt *attempt)
{
	struct one *one = (struct one *)attempt;

	bench.dropped += one->is_open;
	one->is_open = false;
	ev_timer_stop(attempts_loop(attempt), &one->later);
}

static void on_connecting(void *owner)
{
	(void)owner;
	bench.connecting++;
}

static void on_done(void *owner, struct attempt *winner, enum probe_reason reason)
{
	(void)owner;
	bench.done++;
	bench.winner = winner;
	bench.reason = reason;
	bench.winner_was_open = winner != NULL && ((struct one *)winner)->is_open;
	ev_break(EV_DEFAULT_ EVBREAK_ALL);
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)timer;
	(void)events;
	ev_break(loop, EVBREAK_ALL);
}

/* Tries 127.0.0.1 and so on, each with its fate, and runs the loop until it is over. */
static struct attempts *try_all(const enum fate *fates, size_t count)
{
	static const struct conf_address to = {.host = "db.internal", .port = 5432};
	static const char *const hosts[] = {"127.0.0.1", "127.0.0.2", "127.0.0.3"};
	const char *names[4] = {NULL};
	struct attempts *attempts;
	ev_timer limit;

	memset(&bench, 0, sizeof(bench));
	for (size_t i = 0; i < count; i++) {
		bench.fates[i + 1] = fates[i];
		names[i] = hosts[i];
	}
	answer_with(names);
	ev_now_update(EV_DEFAULT);
	ev_timer_init(&limit, on_limit, 0.6, 0);
	ev_timer_start(EV_DEFAULT_ & limit);
	attempts = attempts_start(&(struct attempts_setup){
		.loop = EV_DEFAULT,
		.address = &to,
		.size = sizeof(struct one),
		.connecting = on_connecting,
		.open = open_one,
		.drop = drop_one,
		.done = on_done,
		.owner = &bench,
	});
	assert_int_equal(bench.done, 0);
	ev_run(EV_DEFAULT_ 0);
	ev_timer_stop(EV_DEFAULT_ & limit);
	return attempts;
}

#define TRY(...)                                                                                   \
	try_all((const enum fate[]){__VA_ARGS__},                                                  \
		sizeof((const enum fate[]){__VA_ARGS__}) / sizeof(enum fate))

static void the_first_that_connects_wins(void **state)
{
	struct attempts *attempts = TRY(FATE_REFUSED, FATE_LATER, FATE_CONNECTED);

	(void)state;
	assert_int_equal(bench.done, 1);
	assert_int_equal(bench.connecting, 1);
	assert_int_equal(bench.reason, REASON_NONE);
	assert_int_equal(bench.opened, 2);
	assert_true(bench.winner_was_open);
	assert_string_equal(attempts_peer(attempts), "127.0.0.2:5432");
	assert_string_equal(attempts_report(attempts),
		"127.0.0.1:5432 Connection refused, 127.0.0.2:5432 connected, "
		"127.0.0.3:5432 not tried yet");
	/* The one that failed; the winner goes when nobody has taken it. */
	assert_int_equal(bench.dropped, 1);
	attempts_destroy(attempts);
	assert_int_equal(bench.dropped, 2);
}

static void a_silent_address_is_dropped_when_the_next_wins(void **state)
{
	struct attempts *attempts = TRY(FATE_PENDING, FATE_CONNECTED);

	(void)state;
	assert_int_equal(bench.done, 1);
	assert_int_equal(last_number(bench.winner), 2);
	assert_int_equal(bench.dropped, 1);
	attempts_destroy(attempts);
}

static void all_failed_lists_each_with_its_own_words(void **state)
{
	struct attempts *attempts = TRY(FATE_SAYS_WHY, FATE_FAILS_LATER, FATE_REFUSED);

	(void)state;
	assert_int_equal(bench.done, 1);
	assert_null(bench.winner);
	assert_int_equal(bench.reason, REASON_CONNECT);
	assert_string_equal(attempts_report(attempts),
		"127.0.0.1:5432 not today, 127.0.0.2:5432 Connection refused, "
		"127.0.0.3:5432 Connection refused");
	assert_string_equal(attempts_peer(attempts), "");
	assert_int_equal(bench.dropped, 3);
	attempts_destroy(attempts);
	assert_int_equal(bench.dropped, 3);
}

static void want_of_memory_is_a_local_fault(void **state)
{
	struct attempts *attempts = TRY(FATE_REFUSED, FATE_NO_MEMORY);

	(void)state;
	assert_int_equal(bench.reason, REASON_LOCAL);
	attempts_destroy(attempts);
}

static void destroyed_while_pending_drops_all(void **state)
{
	struct attempts *attempts = TRY(FATE_PENDING, FATE_PENDING, FATE_PENDING);

	(void)state;
	assert_int_equal(bench.done, 0);
	assert_int_equal(bench.opened, 3);
	assert_string_equal(attempts_report(attempts),
		"127.0.0.1:5432 no answer, 127.0.0.2:5432 no answer, 127.0.0.3:5432 no answer");
	attempts_destroy(attempts);
	assert_int_equal(bench.dropped, 3);
	attempts_destroy(NULL);
}

static int make_loop(void **state)
{
	(void)state;
	return ev_default_loop(0) == NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_that_connects_wins),
		cmocka_unit_test(a_silent_address_is_dropped_when_the_next_wins),
		cmocka_unit_test(all_failed_lists_each_with_its_own_words),
		cmocka_unit_test(want_of_memory_is_a_local_fault),
		cmocka_unit_test(destroyed_while_pending_drops_all),
	};

	return cmocka_run_group_tests(tests, make_loop, NULL);
}
