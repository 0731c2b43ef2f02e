// SPDX-License-Identifier: MIT
/* Desired against acknowledged: sequences written out, and random ones against three laws. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

#include "runner/publish.h"

#define TTL 30.0

/* One line of a sequence. At `at`, `event` happens; then the next step must be as said. */
struct line {
	double at;
	enum event {
		WANT, /* status, output; fresh for 1000 s */
		STALE, /* the same, fresh until now */
		SEND,
		ACCEPT,
		REFUSE,
		ABANDON,
		HOLD,
		FORGET,
		STOP,
		DELAY, /* by 5 s */
		LOOK,
	} event;
	char status; /* of WANT and STALE; P, W or C */
	const char *output;
	enum publish_kind kind; /* the step that follows ... */
	double due; /* ... and when; 0: at once */
};

static enum probe_status status_of(char letter)
{
	return letter == 'P' ? PROBE_PASSING : letter == 'W' ? PROBE_WARNING : PROBE_CRITICAL;
}

static void happen(struct publish_slot *slot, const struct line *line, struct publish_now now)
{
	switch (line->event) {
	case WANT:
		publish_want(slot, status_of(line->status), line->output, now.boot + 1000, now);
		break;
	case STALE:
		publish_want(slot, status_of(line->status), line->output, now.boot - 0.001, now);
		break;
	case SEND:
		publish_sent(slot, now);
		break;
	case ACCEPT:
		publish_answered(slot, PUBLISH_ACCEPTED, now);
		break;
	case REFUSE:
		publish_answered(slot, PUBLISH_REFUSED, now);
		break;
	case ABANDON:
		publish_answered(slot, PUBLISH_ABANDONED, now);
		break;
	case HOLD:
		publish_hold(slot);
		break;
	case FORGET:
		publish_forget(slot);
		break;
	case STOP:
		publish_stop(slot);
		break;
	case DELAY:
		publish_delay(slot, now.monotonic + 5);
		break;
	case LOOK:
		break;
	}
}

static void play(const struct line *lines, size_t count)
{
	struct publish_slot slot;

	publish_init(&slot, TTL);
	for (size_t i = 0; i < count; i++) {
		/* Boot time runs ahead of monotonic time after a suspend. */
		struct publish_now now = {.monotonic = lines[i].at, .boot = lines[i].at + 7};
		struct publish_step step;

		happen(&slot, &lines[i], now);
		step = publish_next(&slot, now);
		if (step.kind != lines[i].kind)
			fail_msg("line %zu: kind %d, wanted %d", i, step.kind, lines[i].kind);
		if (step.kind == PUBLISH_NOTHING)
			assert_true(step.at >= PUBLISH_NEVER);
		else if (lines[i].due <= 0 ? step.at > now.monotonic
					   : fabs(step.at - lines[i].due) > 1e-6)
			fail_msg("line %zu: due %f, wanted %f", i, step.at, lines[i].due);
	}
	publish_finish(&slot);
}

#define PLAY(...)                                                                                  \
	do {                                                                                       \
		const struct line lines[] = {__VA_ARGS__};                                         \
		play(lines, sizeof(lines) / sizeof(lines[0]));                                     \
	} while (0)

#define NONE PUBLISH_NOTHING
#define CHANGE PUBLISH_CHANGE
#define BEAT PUBLISH_HEARTBEAT

static void first_claim_is_a_change_and_is_repeated(void **unused)
{
	(void)unused;
	PLAY({100, LOOK, 0, "", NONE, 0}, {100, WANT, 'P', "a", CHANGE, 0},
		{100, SEND, 0, "", NONE, 0}, {101, ACCEPT, 0, "", BEAT, 110},
		{105, WANT, 'P', "a", BEAT, 110}, {110, SEND, 0, "", NONE, 0},
		{110.5, ACCEPT, 0, "", BEAT, 120}, {115, WANT, 'C', "a", CHANGE, 0});
}

static void outputs_wait_for_the_sooner_of_heartbeat_and_ten_seconds(void **unused)
{
	(void)unused;
	/* The heartbeat comes first ... */
	PLAY({100, WANT, 'P', "a", CHANGE, 0}, {100, SEND, 0, "", NONE, 0},
		{100, ACCEPT, 0, "", BEAT, 110}, {104, WANT, 'P', "b", BEAT, 110});
	/* ... or, where it is put off by a confirmation, the ten seconds after the first new one.
	 */
	struct publish_slot slot;
	struct publish_now now = {.monotonic = 100, .boot = 100};

	publish_init(&slot, 90);
	publish_want(&slot, PROBE_PASSING, "a", 1000, now);
	publish_sent(&slot, now);
	publish_answered(&slot, PUBLISH_ACCEPTED, now);
	for (int i = 1; i < 9; i++) {
		char output[] = {(char)('a' + i), '\0'};

		now.monotonic = 101 + i;
		publish_want(&slot, PROBE_PASSING, output, 1000, now);
		assert_true(fabs(publish_next(&slot, now).at - 112) < 1e-6);
	}
	publish_finish(&slot);
}

static void change_is_not_taken_for_reported_while_the_agent_is_away(void **unused)
{
	(void)unused;
	PLAY({100, WANT, 'P', "a", CHANGE, 0}, {100, SEND, 0, "", NONE, 0},
		{100, ACCEPT, 0, "", BEAT, 110}, {103, WANT, 'C', "b", CHANGE, 0},
		{103, SEND, 0, "", NONE, 0}, {103, REFUSE, 0, "", CHANGE, 0},
		{104, WANT, 'C', "b", CHANGE, 0}, {104, SEND, 0, "", NONE, 0},
		{104, REFUSE, 0, "", CHANGE, 0}, {108, SEND, 0, "", NONE, 0},
		{108, ACCEPT, 0, "", BEAT, 118});
}

static void flips_while_the_agent_is_away_are_not_replayed(void **unused)
{
	(void)unused;
	PLAY({100, WANT, 'P', "a", CHANGE, 0}, {100, SEND, 0, "", NONE, 0},
		{100, ACCEPT, 0, "", BEAT, 110}, {103, WANT, 'C', "b", CHANGE, 0},
		{103, SEND, 0, "", NONE, 0}, {103, REFUSE, 0, "", CHANGE, 0},
		{104, WANT, 'P', "a", BEAT, 110}, {105, WANT, 'C', "b", CHANGE, 0},
		{106, WANT, 'P', "a", BEAT, 110}, {110, SEND, 0, "", NONE, 0},
		{110, ACCEPT, 0, "", BEAT, 120});
}

static void acknowledgement_after_an_abandoned_call_is_provisional(void **unused)
{
	(void)unused;
	PLAY({100, WANT, 'C', "a", CHANGE, 0}, {100, SEND, 0, "", NONE, 0},
		{105, ABANDON, 0, "", CHANGE, 0}, {105, WANT, 'P', "b", CHANGE, 0},
		{106, SEND, 0, "", NONE, 0}, {106, ACCEPT, 0, "", BEAT, 107},
		{107, SEND, 0, "", NONE, 0}, {107.1, ACCEPT, 0, "", BEAT, 117});
	/* A newer state goes at once, and the confirmation is still owed. */
	PLAY({100, WANT, 'C', "a", CHANGE, 0}, {100, SEND, 0, "", NONE, 0},
		{105, ABANDON, 0, "", CHANGE, 0}, {106, SEND, 0, "", NONE, 0},
		{106, ACCEPT, 0, "", BEAT, 107}, {106.5, WANT, 'P', "b", CHANGE, 0},
		{106.5, SEND, 0, "", NONE, 0}, {106.6, ACCEPT, 0, "", BEAT, 107},
		{107, SEND, 0, "", NONE, 0}, {107, ACCEPT, 0, "", BEAT, 117});
	/* What was refused, or abandoned again, settles nothing. */
	PLAY({100, WANT, 'C', "a", CHANGE, 0}, {100, SEND, 0, "", NONE, 0},
		{105, ABANDON, 0, "", CHANGE, 0}, {106, SEND, 0, "", NONE, 0},
		{106, ACCEPT, 0, "", BEAT, 107}, {107, SEND, 0, "", NONE, 0},
		{109, ABANDON, 0, "", CHANGE, 0}, {110, SEND, 0, "", NONE, 0},
		{110, REFUSE, 0, "", CHANGE, 0}, {111, SEND, 0, "", NONE, 0},
		{111, ACCEPT, 0, "", BEAT, 112});
}

static void stale_claims_are_not_repeated(void **unused)
{
	(void)unused;
	PLAY({100, STALE, 'P', "a", NONE, 0}, {100, STALE, 'W', "a", NONE, 0},
		{100, STALE, 'C', "a", CHANGE, 0}, {100, SEND, 0, "", NONE, 0},
		{101, ACCEPT, 0, "", NONE, 0});
	PLAY({100, WANT, 'P', "a", CHANGE, 0}, {100, SEND, 0, "", NONE, 0},
		{100, ACCEPT, 0, "", BEAT, 110}, {1100.1, LOOK, 0, "", NONE, 0},
		{1101, WANT, 'C', "no result within 16s", CHANGE, 0});
}

static void an_agent_that_knows_nothing_is_told_fresh_claims_only(void **unused)
{
	const struct publish_now now = {100, 100}, later = {200, 200};
	struct publish_slot slot;

	(void)unused;
	publish_init(&slot, TTL);
	assert_false(publish_may_claim(&slot, now));
	publish_want(&slot, PROBE_PASSING, "a", 150, now);
	assert_true(publish_may_claim(&slot, now));
	assert_false(publish_may_claim(&slot, later));
	publish_sent(&slot, now);
	assert_true(publish_may_claim(&slot, now)); /* what is in flight is no less true */
	publish_hold(&slot);
	assert_false(publish_may_claim(&slot, now));
	publish_want(&slot, PROBE_CRITICAL, "a", 150, now);
	assert_true(publish_may_claim(&slot, later));
	publish_finish(&slot);
}

static void nothing_is_sent_while_held(void **unused)
{
	(void)unused;
	PLAY({100, WANT, 'C', "a", CHANGE, 0}, {100, HOLD, 0, "", NONE, 0},
		{200, LOOK, 0, "", NONE, 0}, {200, WANT, 'C', "a", CHANGE, 0});
}

static void what_was_forgotten_is_a_change_again(void **unused)
{
	(void)unused;
	PLAY({100, WANT, 'P', "a", CHANGE, 0}, {100, SEND, 0, "", NONE, 0},
		{100, ACCEPT, 0, "", BEAT, 110}, {101, FORGET, 0, "", CHANGE, 0},
		{101, SEND, 0, "", NONE, 0}, {101, ACCEPT, 0, "", BEAT, 111});
}

static void refusals_set_a_floor_until_the_next_success(void **unused)
{
	(void)unused;
	PLAY({100, WANT, 'P', "a", CHANGE, 0}, {100, SEND, 0, "", NONE, 0},
		{100, REFUSE, 0, "", CHANGE, 0}, {100, DELAY, 0, "", CHANGE, 105},
		{101, WANT, 'C', "b", CHANGE, 105}, {105, SEND, 0, "", NONE, 0},
		{105, ACCEPT, 0, "", BEAT, 115}, {106, WANT, 'P', "c", CHANGE, 0});
}

static void stopping_sends_bad_news_only(void **unused)
{
	(void)unused;
	PLAY({100, WANT, 'P', "a", CHANGE, 0}, {100, STOP, 0, "", NONE, 0},
		{100, WANT, 'C', "b", CHANGE, 0}, {100, SEND, 0, "", NONE, 0},
		{100, ACCEPT, 0, "", NONE, 0});
	PLAY({100, WANT, 'C', "a", CHANGE, 0}, {100, SEND, 0, "", NONE, 0},
		{100, ABANDON, 0, "", CHANGE, 0}, {100, STOP, 0, "", CHANGE, 0},
		{101, SEND, 0, "", NONE, 0}, {101, ACCEPT, 0, "", BEAT, 102},
		{102, SEND, 0, "", NONE, 0}, {102, ACCEPT, 0, "", NONE, 0});
}

/*
 * An agent that applies abandoned calls late, at any later moment up to the next
 * second, as a hung one does. After the last event and a few good answers it must hold
 * the newest claim, whatever came before.
 */
struct world {
	struct publish_slot slot;
	struct publish_now now;
	unsigned int seed;
	char desired; /* the newest claim */
	char held; /* what the agent has */
	char late; /* applied by and by; 0: none */
	double late_until;
};

static unsigned int roll(struct world *world, unsigned int sides)
{
	world->seed = world->seed * 1103515245u + 12345u;
	return (world->seed >> 16) % sides;
}

static void apply_late(struct world *world, bool surely)
{
	if (world->late != 0 &&
		(surely || world->now.monotonic >= world->late_until || roll(world, 3) == 0)) {
		world->held = world->late;
		world->late = 0;
	}
}

static void advance(struct world *world, double seconds)
{
	world->now.monotonic += seconds;
	world->now.boot += seconds;
	apply_late(world, false);
}

/* Sends if something is due; answers: 0 accepted, 1 refused, 2 abandoned. */
static bool exchange(struct world *world, unsigned int answer)
{
	struct publish_step step = publish_next(&world->slot, world->now);
	char sent;

	if (step.kind == PUBLISH_NOTHING || step.at > world->now.monotonic)
		return false;
	assert_false(world->slot.in_flight);
	publish_sent(&world->slot, world->now);
	assert_int_equal(publish_next(&world->slot, world->now).kind, PUBLISH_NOTHING);
	sent = "PWC"[world->slot.sent_status];
	assert_int_equal(sent, world->desired);
	if (answer == 2) {
		world->late = sent;
		/* Less than the confirmation's delay after the agent answers again. */
		world->late_until = world->now.monotonic + 1e9;
		publish_answered(&world->slot, PUBLISH_ABANDONED, world->now);
	} else if (answer == 1) {
		publish_answered(&world->slot, PUBLISH_REFUSED, world->now);
	} else {
		world->held = sent;
		if (world->late != 0 && world->late_until > world->now.monotonic + 1)
			world->late_until = world->now.monotonic + 0.9;
		publish_answered(&world->slot, PUBLISH_ACCEPTED, world->now);
	}
	return true;
}

static void disturb(struct world *world)
{
	switch (roll(world, 4)) {
	case 0:
	case 1:
		world->desired = "PWC"[roll(world, 3)];
		publish_want(&world->slot, status_of(world->desired),
			roll(world, 2) == 0 ? "a" : "b", world->now.boot + 1e6, world->now);
		break;
	case 2:
		(void)exchange(world, roll(world, 3));
		break;
	default:
		advance(world, roll(world, 4) * 0.3);
		break;
	}
}

static void the_agent_ends_with_the_newest_claim(void **unused)
{
	(void)unused;
	for (unsigned int seed = 0; seed < 20000; seed++) {
		struct world world = {.seed = seed, .now = {100, 100}};
		unsigned int good = 0;

		publish_init(&world.slot, TTL);
		while (world.desired == 0)
			disturb(&world);
		for (unsigned int i = 0; i < 30; i++)
			disturb(&world);
		for (unsigned int i = 0; i < 100 && !publish_is_acknowledged(&world.slot); i++) {
			good += exchange(&world, 0);
			advance(&world, 0.25);
		}
		assert_true(publish_is_acknowledged(&world.slot));
		assert_true(good <= 4);
		apply_late(&world, true);
		if (world.held != world.desired)
			fail_msg("seed %u: the agent has %c, wanted %c", seed, world.held,
				world.desired);
		publish_finish(&world.slot);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_claim_is_a_change_and_is_repeated),
		cmocka_unit_test(outputs_wait_for_the_sooner_of_heartbeat_and_ten_seconds),
		cmocka_unit_test(change_is_not_taken_for_reported_while_the_agent_is_away),
		cmocka_unit_test(flips_while_the_agent_is_away_are_not_replayed),
		cmocka_unit_test(acknowledgement_after_an_abandoned_call_is_provisional),
		cmocka_unit_test(stale_claims_are_not_repeated),
		cmocka_unit_test(an_agent_that_knows_nothing_is_told_fresh_claims_only),
		cmocka_unit_test(nothing_is_sent_while_held),
		cmocka_unit_test(what_was_forgotten_is_a_change_again),
		cmocka_unit_test(refusals_set_a_floor_until_the_next_success),
		cmocka_unit_test(stopping_sends_bad_news_only),
		cmocka_unit_test(the_agent_ends_with_the_newest_claim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
