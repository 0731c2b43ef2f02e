// SPDX-License-Identifier: MIT
/* One check at run time: when it runs, what its results mean, what is claimed. */
#include "runner/check_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/units.h"
#include "probes/clock.h"
#include "probes/remains.h"
#include "runner/log.h"
#include "runner/schedule.h"

static void on_tick(struct ev_loop *loop, ev_timer *watcher, int events);
static void on_remains_changed(void *owner);
static void on_cleared(struct ev_loop *loop, ev_prepare *watcher, int events);
static void on_done(void *owner);
static void on_stale(struct ev_loop *loop, ev_timer *watcher, int events);

struct check *check_create(struct check_world *world, const struct check_conf *conf)
{
	struct check *check = xcalloc(1, sizeof(*check));

	check->world = world;
	check->conf = conf;
	if (!conf->shared)
		check->agent = agent_find(world->agent, conf->id);
	for (enum probe_phase phase = PHASE_START; phase < PHASE_COUNT; phase++)
		check->phase_seconds[phase] = -1;
	if (conf->composed == NULL)
		check->phase = schedule_phase(world->host, conf->id, conf->interval);
	check->remains = remains_create(on_remains_changed, check);
	run_init(&check->run, world->loop, on_done, check);
	ev_timer_init(&check->tick, on_tick, 0, 0);
	check->tick.data = check;
	ev_timer_init(&check->freshness, on_stale, 0, 0);
	check->freshness.data = check;
	ev_init(&check->cleared, on_cleared);
	check->cleared.data = check;
	return check;
}

void check_stop(struct check *check)
{
	check->stopped = true;
	check->waiting = false;
	check_wake_stop(check);
	ev_timer_stop(check->world->loop, &check->tick);
	ev_timer_stop(check->world->loop, &check->freshness);
	ev_clear_pending(check->world->loop, &check->cleared);
	run_cancel(&check->run);
}

void check_destroy(struct check *check)
{
	if (check == NULL)
		return;
	check_stop(check);
	check_unlink(check);
	run_finish(&check->run);
	remains_release(check->remains);
	verdict_finish(&check->last);
	free(check->last_line);
	measures_clear(&check->values);
	free(check->output);
	free(check);
}

void check_seed(struct check *check, const struct threshold_state *state)
{
	check->state = *state;
	check->state.decided = false; /* by this process nothing was decided yet */
	if (state->has_status && check->agent != NULL)
		agent_adopt(check->agent,
			verdict_status(state, (enum probe_status)check->conf->max_status));
}

static struct schedule_start start_of(const struct check *check, bool first)
{
	return (struct schedule_start){
		.phase = check->phase,
		.interval = check->conf->interval,
		.ttl = check->conf->ttl,
		.was_passing = check->state.has_status && check->state.status == PROBE_PASSING,
		.first = first,
	};
}

/* Plans the next run for `due`; at_once leaves out the rounding. */
static void plan(struct check *check, double due, bool at_once)
{
	struct ev_loop *loop = check->world->loop;
	double wake = at_once ? due : schedule_wake(due, check->world->grid, check->conf->interval);

	check->due = due;
	ev_timer_stop(loop, &check->tick);
	ev_now_update(loop);
	ev_timer_set(&check->tick, fmax(wake - clock_monotonic(), 0), 0);
	ev_timer_start(loop, &check->tick);
}

void check_start(struct check *check, bool first)
{
	const struct schedule_start start = start_of(check, first);
	double now = clock_monotonic();
	double due;

	if (check->conf->composed != NULL)
		return;
	due = schedule_first(&start, now);
	plan(check, due, due <= now);
	check_wake_start(check);
}

void check_bring_forward(struct check *check, double due)
{
	if (ev_is_active(&check->tick) && check->due > due)
		plan(check, due, true);
}

void check_adopt(struct check *check, const struct check_conf *conf)
{
	/* What is watched goes by the old configuration, which ends now. */
	check_wake_stop(check);
	check->conf = conf;
	if (!conf->shared)
		check->agent = agent_find(check->world->agent, conf->id);
	if (!check->stopped)
		check_wake_start(check);
}

/* Plans what follows a result or a tick that could not be used. */
static void plan_next(struct check *check)
{
	const struct schedule_ask ask = {
		.phase = check->phase,
		.interval = check->conf->interval,
		.retry_interval = check->conf->retry_interval,
		.last_due = check->due,
		.confirming = check->effect == THRESHOLD_UNCONFIRMED,
		.retry_local = check->effect == THRESHOLD_IGNORED,
	};
	double now = clock_monotonic();
	unsigned long skipped = 0;

	if (check->stopped)
		return;
	/* A first run or a retry stands off the ticks: one tick inside it is not missed by it. */
	if (now - check->due >= check->conf->interval)
		skipped = schedule_ticks_between(
			check->phase, check->conf->interval, check->due, now);
	check->skipped += skipped;
	if (skipped > 0 && !check->skipping)
		log_notice("%s: a run took longer than the interval; ticks are skipped",
			check->conf->id);
	check->skipping = skipped > 0;
	plan(check, schedule_next(&ask, now), false);
	check_wake_after_run(check);
}

static void publish(struct check *check)
{
	const struct claim claim = {
		.status = check->claimed,
		.output = check->output,
		.fresh_until = check_fresh_until(check),
	};

	if (check->agent != NULL)
		agent_publish(check->agent, &claim);
}

static enum log_level level_of(enum probe_status status)
{
	static const enum log_level levels[] = {
		[PROBE_PASSING] = LOG_LEVEL_NOTICE,
		[PROBE_WARNING] = LOG_LEVEL_WARNING,
		[PROBE_CRITICAL] = LOG_LEVEL_ERROR,
	};

	return levels[status];
}

void check_claim_text(struct check *check, enum probe_status status, char *take_text)
{
	bool first = check->output == NULL;
	bool changed = first || check->claimed != status || check->stale;

	if (changed) {
		int length = (int)strcspn(take_text, "\n");

		check->changes += !first;
		check->claimed_at = clock_boot();
		log_write(level_of(status), "%s: %s%s%.*s", check->conf->id, status_name(status),
			length > 0 ? ": " : "", length, take_text);
	}
	free(check->output);
	check->output = take_text;
	check->claimed = status;
	publish(check);
}

static void keep_fresh(struct check *check)
{
	struct ev_loop *loop = check->world->loop;

	ev_timer_stop(loop, &check->freshness);
	ev_timer_set(&check->freshness, settings_fresh_for(check->conf), 0);
	ev_timer_start(loop, &check->freshness);
}

static void on_stale(struct ev_loop *loop, ev_timer *watcher, int events)
{
	struct check *check = watcher->data;
	const struct threshold_state silent = {.status = PROBE_CRITICAL};
	const struct output nothing = {0};
	enum probe_status cap = (enum probe_status)check->conf->max_status;
	struct verdict verdict = {.result = PROBE_CRITICAL};
	char duration[UNITS_DURATION_SIZE];

	(void)loop;
	(void)events;
	if (!check->state.decided)
		return;
	units_print_duration(settings_fresh_for(check->conf), duration, sizeof(duration));
	check->stale = true;
	verdict.line = xprintf("no result within %s", duration);
	check_claim_text(check, verdict_status(&silent, cap),
		verdict_text(&verdict, &silent, cap, &nothing));
	verdict_finish(&verdict);
	check_tell_users(check);
}

static void note_run(struct check *check, const struct outcome *outcome)
{
	check->ended_at = clock_boot() - (clock_monotonic() - outcome->ended);
	check->duration = outcome->ended - outcome->started;
	check->runs++;
	check->timeouts += outcome->reason == REASON_TIMEOUT;
	for (enum probe_phase phase = PHASE_START; phase < PHASE_COUNT; phase++)
		check->phase_seconds[phase] = outcome_phase_seconds(outcome, phase);
}

/* A result is there: thresholds, claim, next run. */
static void take_result(struct check *check, struct outcome *outcome)
{
	const struct check_conf *conf = check->conf;
	const struct threshold_conf thresholds = {
		.success_before_passing = conf->success_before_passing,
		.failures_before_warning = conf->failures_before_warning,
		.failures_before_critical = conf->failures_before_critical,
	};
	enum probe_status cap = (enum probe_status)conf->max_status;
	struct threshold_state before = check->state;

	note_run(check, outcome);
	check->voided = check->held = false;
	verdict_finish(&check->last);
	verdict_init(&check->last, &conf->max_latency, outcome);
	free(check->last_line);
	check->last_line = verdict_first_line(&check->last, &outcome->output);
	measures_move(&check->values, &outcome->values);
	check->effect = threshold_apply(
		&thresholds, &check->state, check->last.result, reason_is_local(outcome->reason));
	if (!threshold_same(&before, &check->state))
		check->world->dirty(check->world->owner);
	log_debug("%s: run ended %s: %s", conf->id, status_name(check->last.result),
		check->last_line);
	if (check->effect != THRESHOLD_IGNORED)
		keep_fresh(check);
	if (check->state.decided && !(check->effect == THRESHOLD_IGNORED && check->stale)) {
		char *text = verdict_text(&check->last, &check->state, cap, &outcome->output);

		check->stale = false;
		check_claim_text(check, verdict_status(&check->state, cap), text);
	}
	check_tell_users(check);
	plan_next(check);
}

static void on_done(void *owner)
{
	struct check *check = owner;

	take_result(check, &check->run.outcome);
	outcome_clear(&check->run.outcome);
}

static void refuse_run(struct check *check)
{
	double now = clock_monotonic();
	struct outcome outcome = {
		.status = PROBE_CRITICAL,
		.reason = REASON_UNKILLABLE,
		.started = now,
		.ended = now,
	};

	take_result(check, &outcome);
}

/* Starts the run that is due, or waits until what an earlier one left behind is gone. */
static void begin(struct check *check)
{
	unsigned int stubborn = remains_stubborn_count(check->remains);

	/* Beside one tree that survives KILL runs go on; with two nothing more is started. */
	check->waiting = stubborn < 2 && remains_count(check->remains) > stubborn;
	if (check->waiting)
		return;
	if (stubborn >= 2) {
		refuse_run(check);
		return;
	}
	check->begun = clock_monotonic();
	run_start(&check->run, check->world->settings, check->conf, check->remains);
}

static void on_tick(struct ev_loop *loop, ev_timer *watcher, int events)
{
	struct check *check = watcher->data;

	(void)loop;
	(void)events;
	check->lateness = fmax(clock_monotonic() - check->due, 0);
	check->max_lateness = fmax(check->max_lateness, check->lateness);
	begin(check);
}

/* Called from inside the module that holds the remains: the run starts from the loop. */
static void on_remains_changed(void *owner)
{
	struct check *check = owner;

	if (check->waiting)
		ev_feed_event(check->world->loop, &check->cleared, EV_CUSTOM);
}

static void on_cleared(struct ev_loop *loop, ev_prepare *watcher, int events)
{
	struct check *check = watcher->data;

	(void)loop;
	(void)events;
	if (check->waiting)
		begin(check);
}

void check_hold(struct check *check)
{
	check->held = true;
	if (check->agent != NULL)
		agent_hold(check->agent);
	/* It may have run out in this very pass; what the stall kept away is no silence. */
	if (ev_is_active(&check->freshness) || ev_is_pending(&check->freshness))
		keep_fresh(check);
}

void check_stalled(struct check *check, double ended)
{
	const struct schedule_start start = start_of(check, false);
	struct run *run = &check->run;

	if (check->conf->composed != NULL)
		return;
	if (ev_is_active(&check->freshness))
		keep_fresh(check);
	if (run->probe == NULL) {
		if (ev_is_active(&check->tick))
			plan(check, schedule_after_stall(&start, check->due, ended), false);
		return;
	}
	/* A verdict that is there counts, a run begun after the stall is sound, and one void
	 * run in a row is enough: a machine that stalls for ever must not hide a fault. */
	if (run->outcome.ended > 0 || run->outcome.started >= ended || check->voided)
		return;
	run_cancel(run);
	check->voided = true;
	check->voids++;
	plan(check, schedule_soon(&start, ended), false);
}

const struct check_conf *check_conf_of(const struct check *check)
{
	return check->conf;
}

const struct threshold_state *check_state(const struct check *check)
{
	return &check->state;
}
