// SPDX-License-Identifier: MIT
/* Two clocks and a pulse: a late pass, or boot time that ran ahead, is a stall. */
#include "runner/stall.h"

#include "probes/clock.h"

/* Short enough that a stop of a second is always seen, long enough to cost nothing. */
#define PULSE 0.5

static void set_pulse(struct stall *stall, double now)
{
	stall->pulse_due = now + PULSE;
	ev_now_update(stall->loop);
	ev_timer_set(&stall->pulse, PULSE, 0);
	ev_timer_start(stall->loop, &stall->pulse);
}

static void on_pulse(struct ev_loop *loop, ev_timer *watcher, int events)
{
	(void)loop;
	(void)events;
	set_pulse(watcher->data, clock_monotonic());
}

static void on_settle(struct ev_loop *loop, ev_timer *watcher, int events)
{
	struct stall *stall = watcher->data;

	(void)loop;
	(void)events;
	stall->settled(stall->owner, stall->ended);
}

static void on_pass(struct ev_loop *loop, ev_check *watcher, int events)
{
	struct stall *stall = watcher->data;
	double now = clock_monotonic();
	double lead = clock_boot() - now;
	double late = now - stall->pulse_due;
	double slept = lead - stall->boot_lead;

	(void)events;
	stall->boot_lead = lead;
	if (late <= STALL_LATE && slept <= STALL_SUSPEND)
		return;
	/* Measured from here on: the pulse fires in this pass as well, but behind us. */
	stall->pulse_due = now + PULSE;
	stall->ended = now;
	stall->count++;
	stall->noticed(stall->owner, late > slept ? late : slept);
	ev_timer_stop(loop, &stall->settle);
	ev_timer_set(&stall->settle, 0, 0);
	ev_timer_start(loop, &stall->settle);
}

void stall_start(struct stall *stall, struct ev_loop *loop)
{
	double now = clock_monotonic();

	stall->loop = loop;
	stall->count = 0;
	stall->boot_lead = clock_boot() - now;
	ev_check_init(&stall->pass, on_pass);
	ev_set_priority(&stall->pass, EV_MAXPRI);
	stall->pass.data = stall;
	ev_timer_init(&stall->pulse, on_pulse, 0, 0);
	stall->pulse.data = stall;
	ev_timer_init(&stall->settle, on_settle, 0, 0);
	/* Behind I/O and children, before the second pass of deadlines (EV_MINPRI). */
	ev_set_priority(&stall->settle, EV_MINPRI + 1);
	stall->settle.data = stall;
	ev_check_start(loop, &stall->pass);
	ev_unref(loop); /* watching alone does not keep the loop alive */
	set_pulse(stall, now);
}

void stall_stop(struct stall *stall)
{
	if (!ev_is_active(&stall->pass))
		return;
	ev_ref(stall->loop);
	ev_check_stop(stall->loop, &stall->pass);
	ev_timer_stop(stall->loop, &stall->pulse);
	ev_timer_stop(stall->loop, &stall->settle);
}
