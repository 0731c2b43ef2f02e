// SPDX-License-Identifier: MIT
/* One run: every way in ends in done exactly once, and the deadline waits for what is there. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/remains.h"
#include "probes/types.h"
#include "runner/run.h"

/* What the fake probe does. */
struct fake_conf {
	bool finish_in_start;
	double finish_after; /* s, 0: never */
	int finish_on_read; /* finishes when this descriptor is readable, -1 for none */
	bool verdict_known; /* expire finishes */
	bool sees; /* sets a seen line */
};

struct fake_run {
	ev_timer timer;
	ev_io io;
};

static unsigned int cancels, dones;
static int references;

struct settings *settings_share(struct settings *settings)
{
	references++;
	return settings;
}

void settings_destroy(struct settings *settings)
{
	(void)settings;
	references--;
}

static void pass(void *run)
{
	probe_finish(probe_of_run(run), PROBE_PASSING, REASON_NONE, "fine");
}

static void on_timer(struct ev_loop *loop, ev_timer *watcher, int events)
{
	(void)loop;
	(void)events;
	pass(watcher->data);
}

static void on_io(struct ev_loop *loop, ev_io *watcher, int events)
{
	(void)events;
	ev_io_stop(loop, watcher);
	pass(watcher->data);
}

static void fake_start(struct probe *probe)
{
	const struct fake_conf *conf = probe_conf(probe);
	struct fake_run *run = probe_run(probe);

	run->timer.data = run->io.data = run;
	ev_init(&run->timer, on_timer);
	ev_init(&run->io, on_io);
	if (conf->sees)
		probe_seen(probe, "HTTP %d, body incomplete", 200);
	if (conf->finish_in_start)
		pass(run);
	if (conf->finish_after > 0) {
		ev_timer_set(&run->timer, conf->finish_after, 0);
		ev_timer_start(probe_loop(probe), &run->timer);
	}
	if (conf->finish_on_read >= 0) {
		ev_io_set(&run->io, conf->finish_on_read, EV_READ);
		ev_io_start(probe_loop(probe), &run->io);
	}
}

static void fake_expire(struct probe *probe)
{
	const struct fake_conf *conf = probe_conf(probe);

	if (conf->verdict_known)
		probe_finish(probe, PROBE_WARNING, REASON_NONE, NULL);
}

static void fake_cancel(struct probe *probe)
{
	struct fake_run *run = probe_run(probe);

	cancels++;
	ev_timer_stop(probe_loop(probe), &run->timer);
	ev_io_stop(probe_loop(probe), &run->io);
}

#define FAKE(name)                                                                                 \
	const struct probe_type probe_##name = {                                                   \
		.run_size = sizeof(struct fake_run),                                               \
		.start = fake_start,                                                               \
		.expire = fake_expire,                                                             \
		.cancel = fake_cancel,                                                             \
	};
PROBE_TYPES(FAKE)

static void on_done(void *owner)
{
	dones++;
	ev_break(owner, EVBREAK_ALL);
}

/* One run with this configuration, to its end. */
static void run_one(struct run *run, struct fake_conf *conf, double timeout)
{
	const struct check_conf check = {
		.type = &probe_http,
		.probe = {.conf = conf},
		.timeout = timeout,
	};
	struct ev_loop *loop = ev_default_loop(0);

	cancels = dones = 0;
	run_init(run, loop, on_done, loop);
	run_start(run, NULL, &check, NULL);
	assert_int_equal(dones, 0); /* never from inside */
	ev_run(loop, 0);
	assert_int_equal(dones, 1);
	assert_int_equal(cancels, 1);
	assert_int_equal(references, 0);
	assert_null(run->probe);
	ev_run(loop, EVRUN_NOWAIT);
	assert_int_equal(dones, 1);
}

static void assert_line(struct run *run, enum probe_status status, const char *expected)
{
	char *line = outcome_line(&run->outcome);

	assert_int_equal(run->outcome.status, status);
	assert_string_equal(line, expected);
	assert_true(run->outcome.ended >= run->outcome.started);
	free(line);
	run_finish(run);
}

static void finish_inside_start(void **unused)
{
	struct fake_conf conf = {.finish_in_start = true, .finish_on_read = -1};
	struct run run;

	(void)unused;
	run_one(&run, &conf, 5);
	assert_line(&run, PROBE_PASSING, "fine");
}

static void finish_later(void **unused)
{
	struct fake_conf conf = {.finish_after = 0.02, .finish_on_read = -1};
	struct run run;

	(void)unused;
	run_one(&run, &conf, 5);
	assert_line(&run, PROBE_PASSING, "fine");
}

static void deadline_says_what_was_seen(void **unused)
{
	struct fake_conf conf = {.finish_on_read = -1, .sees = true};
	struct run run;

	(void)unused;
	run_one(&run, &conf, 0.05);
	assert_line(&run, PROBE_CRITICAL, "timed out after 50ms; HTTP 200, body incomplete");
}

/* The process stood still past the deadline; the answer had come meanwhile. */
static void deadline_judges_pending_events_first(void **unused)
{
	struct fake_conf conf = {.sees = true};
	struct ev_loop *loop = ev_default_loop(0);
	const struct check_conf check = {
		.type = &probe_http, .probe = {.conf = &conf}, .timeout = 0.02};
	struct run run;
	int pipe_ends[2];

	(void)unused;
	assert_int_equal(pipe(pipe_ends), 0);
	conf.finish_on_read = pipe_ends[0];
	dones = 0;
	run_init(&run, loop, on_done, loop);
	run_start(&run, NULL, &check, NULL);
	assert_int_equal(write(pipe_ends[1], "x", 1), 1);
	usleep(50000);
	ev_run(loop, 0);
	assert_int_equal(dones, 1);
	assert_line(&run, PROBE_PASSING, "fine");
	(void)close(pipe_ends[0]);
	(void)close(pipe_ends[1]);
}

static void deadline_keeps_a_verdict_that_fell(void **unused)
{
	struct fake_conf conf = {.finish_on_read = -1, .verdict_known = true};
	struct run run;

	(void)unused;
	run_one(&run, &conf, 0.02);
	assert_line(&run, PROBE_WARNING, "");
}

static void cancel_ends_without_a_result(void **unused)
{
	struct fake_conf conf = {.finish_in_start = true, .finish_on_read = -1, .sees = true};
	struct ev_loop *loop = ev_default_loop(0);
	const struct check_conf check = {
		.type = &probe_http, .probe = {.conf = &conf}, .timeout = 0.01};
	struct run run;

	(void)unused;
	dones = cancels = 0;
	run_init(&run, loop, on_done, loop);
	run_start(&run, NULL, &check, NULL);
	run_cancel(&run);
	run_cancel(&run);
	usleep(20000);
	ev_run(loop, EVRUN_NOWAIT);
	ev_run(loop, EVRUN_NOWAIT);
	assert_int_equal(dones, 0);
	assert_int_equal(cancels, 1);
	assert_int_equal(references, 0);
	run_finish(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finish_inside_start),
		cmocka_unit_test(finish_later),
		cmocka_unit_test(deadline_says_what_was_seen),
		cmocka_unit_test(deadline_judges_pending_events_first),
		cmocka_unit_test(deadline_keeps_a_verdict_that_fell),
		cmocka_unit_test(cancel_ends_without_a_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
