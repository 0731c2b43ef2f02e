// SPDX-License-Identifier: MIT
/* The streaming Watch: a change of what is served wakes the check. Only its runs decide. */
#include "probes/grpc_watch.h"

#include <stdlib.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "probes/grpc_call.h"
#include "probes/notice.h"

#define FIRST_DELAY 1.0 /* s */
#define LONGEST_DELAY 30.0 /* s; a watch that lasted so long was a good one */

/* s for connection, handshake and first message: as long as a run has. A server tells at once. */
#define OPENING 10.0

struct probe_watch {
	struct grpc_call call;
	struct probe_watch_setup setup;
	ev_timer
		timer; /* while it opens: until it has failed; while it is closed: until it opens */
	double opened; /* monotonic */
	unsigned int failures; /* in a row */
	bool open; /* a message has come */
	bool known; /* of an earlier one too: the next message is a change */
};

static void on_message(void *owner);
static void on_ended(void *owner, struct grpc_verdict take_verdict);

static void start_timer(struct probe_watch *watch, double after)
{
	watch->timer.repeat = after;
	ev_timer_again(watch->setup.loop, &watch->timer);
}

static void open_call(struct probe_watch *watch)
{
	watch->open = false;
	watch->opened = clock_monotonic();
	start_timer(watch, OPENING);
	grpc_call_start(&watch->call,
		&(struct grpc_call_setup){
			.loop = watch->setup.loop,
			.conf = watch->setup.conf,
			.method = "Watch",
			.message = on_message,
			.ended = on_ended,
			.owner = watch,
		});
}

/* Called from inside libcurl. */
static void on_message(void *owner)
{
	struct probe_watch *watch = owner;

	ev_timer_stop(watch->setup.loop, &watch->timer);
	watch->open = true;
	/* The first of all says nothing new: the check's first run asks by itself. */
	if (watch->known)
		watch->setup.wake(watch->setup.owner);
	watch->known = true;
}

double grpc_watch_delay(unsigned int failures)
{
	double delay = FIRST_DELAY;

	for (; failures > 1 && delay < LONGEST_DELAY; failures--)
		delay *= 2;
	return delay < LONGEST_DELAY ? delay : LONGEST_DELAY;
}

static void close_call(struct probe_watch *watch)
{
	bool lasted = watch->open && clock_monotonic() - watch->opened >= LONGEST_DELAY;

	grpc_call_finish(&watch->call);
	watch->failures = lasted ? 1 : watch->failures + (watch->failures < 10);
	start_timer(watch, grpc_watch_delay(watch->failures));
	/* A server that goes takes its watches with it: worth a run. */
	if (watch->open)
		watch->setup.wake(watch->setup.owner);
	watch->open = false;
}

static void on_ended(void *owner, struct grpc_verdict take_verdict)
{
	struct probe_watch *watch = owner;
	bool never = grpc_answer_code(&watch->call.answer) == GRPC_UNIMPLEMENTED;

	free(take_verdict.text);
	close_call(watch);
	if (!never)
		return;
	ev_timer_stop(watch->setup.loop, &watch->timer);
	notice("%s: the server cannot be watched (Watch is not implemented); its runs go on",
		watch->setup.name);
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct probe_watch *watch = timer->data;
	bool opening = watch->call.setup.ended != NULL;

	(void)events;
	ev_timer_stop(loop, timer);
	if (opening)
		close_call(watch);
	else
		open_call(watch);
}

struct probe_watch *grpc_watch_start(const struct probe_watch_setup *setup)
{
	const struct grpc_conf *conf = setup->conf;
	struct probe_watch *watch;

	if (!conf->watch)
		return NULL;
	watch = xcalloc(1, sizeof(*watch));
	watch->setup = *setup;
	ev_init(&watch->timer, on_timer);
	watch->timer.data = watch;
	open_call(watch);
	return watch;
}

void grpc_watch_stop(struct probe_watch *watch)
{
	if (watch == NULL)
		return;
	ev_timer_stop(watch->setup.loop, &watch->timer);
	grpc_call_finish(&watch->call);
	free(watch);
}
