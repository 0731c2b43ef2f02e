// SPDX-License-Identifier: MIT
/* One run: probe and deadline, whichever comes first. */
#include "runner/run.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "config/units.h"
#include "probes/clock.h"
#include "probes/probe_start.h"

static void on_deadline(struct ev_loop *loop, ev_timer *watcher, int events);
static void on_verdict(struct ev_loop *loop, ev_timer *watcher, int events);
static void on_finished(void *owner);

void run_init(struct run *run, struct ev_loop *loop, void (*done)(void *owner), void *owner)
{
	*run = (struct run){.loop = loop, .done = done, .owner = owner};
	ev_timer_init(&run->deadline, on_deadline, 0, 0);
	run->deadline.data = run;
	ev_timer_init(&run->verdict, on_verdict, 0, 0);
	ev_set_priority(&run->verdict, EV_MINPRI);
	run->verdict.data = run;
}

void run_start(struct run *run, struct settings *settings, const struct check_conf *check,
	struct remains *remains)
{
	const struct probe_setup setup = {
		.type = check->type,
		.conf = check->probe.conf,
		.loop = run->loop,
		.outcome = &run->outcome,
		.remains = remains,
		.timeout = check->timeout,
		.finished = on_finished,
		.owner = run,
	};

	assert(run->probe == NULL);
	outcome_clear(&run->outcome);
	if (run->traced)
		run->outcome.trace = trace_create();
	run->settings = settings_share(settings);
	run->timeout = check->timeout;
	/* Relative timers count from the loop's cached time, which may be a callback old. */
	ev_now_update(run->loop);
	ev_timer_set(&run->deadline, check->timeout, 0);
	ev_timer_start(run->loop, &run->deadline);
	run->probe = probe_start(&setup);
}

/* libev runs timers before the I/O of the same pass: what is already there comes first. */
static void on_deadline(struct ev_loop *loop, ev_timer *watcher, int events)
{
	struct run *run = watcher->data;

	(void)events;
	ev_timer_set(&run->verdict, 0, 0);
	ev_timer_start(loop, &run->verdict);
}

static void close_run(struct run *run)
{
	ev_timer_stop(run->loop, &run->deadline);
	ev_timer_stop(run->loop, &run->verdict);
	probe_destroy(run->probe);
	run->probe = NULL;
	settings_destroy(run->settings);
	run->settings = NULL;
}

static void set_timeout_detail(struct outcome *outcome, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void set_timeout_detail(struct outcome *outcome, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	outcome_set_detail(outcome, format, arguments);
	va_end(arguments);
}

static void on_verdict(struct ev_loop *loop, ev_timer *watcher, int events)
{
	struct run *run = watcher->data;
	char duration[UNITS_DURATION_SIZE];

	(void)loop;
	(void)events;
	if (!probe_expire(run->probe)) {
		units_print_duration(run->timeout, duration, sizeof(duration));
		run->outcome.status = PROBE_CRITICAL;
		run->outcome.reason = REASON_TIMEOUT;
		set_timeout_detail(&run->outcome, "after %s", duration);
		run->outcome.ended = clock_monotonic();
	}
	close_run(run);
	run->done(run->owner);
}

static void on_finished(void *owner)
{
	struct run *run = owner;

	close_run(run);
	run->done(run->owner);
}

void run_cancel(struct run *run)
{
	if (run->probe == NULL)
		return;
	close_run(run);
	outcome_clear(&run->outcome);
}

void run_finish(struct run *run)
{
	run_cancel(run);
	outcome_clear(&run->outcome);
}
