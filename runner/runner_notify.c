// SPDX-License-Identifier: MIT
/* The daemon under a service manager: ready, reloading, stopping, alive, and how it goes. */
#include "runner/runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "runner/log.h"

/* s: the pace of the status line, whatever flaps, and of what keeps the watchdog quiet. */
#define PULSE 1.0
/* A watchdog that is shorter than most is told often enough that three may be lost. */
#define PULSES_PER_WATCHDOG 4.0

static void count_checks(const struct runner *runner, struct notify_facts *facts)
{
	enum probe_status status;

	facts->checks = runner->settings->check_count;
	for (size_t i = 0; i < facts->checks; i++) {
		if (check_claim(runner->checks[i], &status))
			facts->by_status[status]++;
		else
			facts->undecided++;
	}
}

/* Says how it goes, where that is not what was said last. */
static void tell_words(struct runner *runner)
{
	struct notify_facts facts = {.reload_error = runner->reload_error};
	const struct settings_file *left_out = settings_left_out(runner->settings, 0);
	struct agent_view agent;
	char *words, *message;

	count_checks(runner, &facts);
	agent_view(runner->world.agent, &agent);
	facts.agent_off = agent.off;
	facts.agent_reachable = agent.reachable;
	facts.agent_problem = agent.problem;
	if (left_out != NULL) {
		facts.left_out = left_out->problem;
		facts.left_out_more = runner->settings->left_out - 1;
	}
	words = notify_words(&facts);
	if (runner->notified != NULL && strcmp(words, runner->notified) == 0) {
		free(words);
		return;
	}
	message = xprintf("STATUS=%s", words);
	if (notify_send(&runner->notify, message)) {
		free(runner->notified);
		runner->notified = words;
	} else {
		free(words);
	}
	free(message);
}

static void feed_watchdog(struct runner *runner)
{
	struct watchdog watchdog = {.now = clock_monotonic(), .stall_ended = runner->stall.ended};

	for (size_t i = 0; i < runner->check_count; i++)
		check_watch(runner->checks[i], &watchdog);
	agent_watch(runner->world.agent, &watchdog);
	if (watchdog_is_fed(&watchdog))
		/* What is lost is made up for by the next. */
		(void)notify_send(&runner->notify, "WATCHDOG=1");
}

static void on_pulse(struct ev_loop *loop, ev_timer *watcher, int events)
{
	struct runner *runner = watcher->data;

	(void)loop;
	(void)events;
	if (runner->notify.watchdog > 0)
		feed_watchdog(runner);
	if (runner->ready_owed)
		runner->ready_owed = !notify_send(&runner->notify, "READY=1");
	if (!runner->stopping)
		tell_words(runner);
}

void runner_notify_start(struct runner *runner)
{
	int result = notify_open(&runner->notify);
	double pulse = PULSE;

	if (result < 0)
		log_warning("NOTIFY_SOCKET: the service manager cannot be told anything: %s",
			strerror(-result));
	if (runner->notify.fd < 0)
		return;
	if (runner->notify.watchdog > 0)
		pulse = fmin(pulse, runner->notify.watchdog / PULSES_PER_WATCHDOG);
	/* Ready is said from the loop: by then it answers on the control socket. */
	runner->ready_owed = true;
	ev_timer_init(&runner->pulse, on_pulse, 0, pulse);
	runner->pulse.data = runner;
	ev_timer_start(runner->world.loop, &runner->pulse);
}

void runner_notify_stop(struct runner *runner)
{
	ev_timer_stop(runner->world.loop, &runner->pulse);
	notify_close(&runner->notify);
	free(runner->notified);
	runner->notified = NULL;
}

void runner_notify_reloading(struct runner *runner)
{
	char *message = xprintf("RELOADING=1\nMONOTONIC_USEC=%.0f", floor(clock_monotonic() * 1e6));

	(void)notify_send(&runner->notify, message);
	free(message);
}

void runner_notify_reloaded(struct runner *runner)
{
	/* Where it is not taken now it is owed: else we would be reloading for ever. */
	runner->ready_owed = runner->notify.fd >= 0 && !notify_send(&runner->notify, "READY=1");
}

void runner_notify_stopping(struct runner *runner)
{
	(void)notify_send(&runner->notify, "STOPPING=1\nSTATUS=stopping");
}
