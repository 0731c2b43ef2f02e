// SPDX-License-Identifier: MIT
/* Runs between the ticks: what a type watches may ask for one, and has to wait its turn. */
#include <math.h>

#include "probes/clock.h"
#include "probes/probe_watch.h"
#include "runner/check_private.h"

/* s from the start of a run to that of one that was asked for: the shortest interval. */
#define SHORTEST_GAP 0.1

static void on_wake(void *owner)
{
	struct check *check = owner;

	/* The open run may have asked before what happened now. */
	check->woken = check->run.probe != NULL;
	if (!check->woken && !check->waiting)
		check_bring_forward(check, fmax(check->begun + SHORTEST_GAP, clock_monotonic()));
}

void check_wake_after_run(struct check *check)
{
	if (check->woken)
		on_wake(check);
}

void check_wake_start(struct check *check)
{
	const struct check_conf *conf = check->conf;

	if (conf->type == NULL || conf->type->watch_start == NULL)
		return;
	check->watch = conf->type->watch_start(&(struct probe_watch_setup){
		.conf = conf->probe.conf,
		.loop = check->world->loop,
		.name = conf->id,
		.wake = on_wake,
		.owner = check,
	});
}

void check_wake_stop(struct check *check)
{
	if (check->watch != NULL)
		check->conf->type->watch_stop(check->watch);
	check->watch = NULL;
	check->woken = false;
}
