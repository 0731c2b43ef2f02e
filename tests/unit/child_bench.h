/* SPDX-License-Identifier: MIT */
/* tests/unit/child_bench.h: runs children on a loop and keeps what was seen of them. */
#ifndef TESTS_UNIT_CHILD_BENCH_H
#define TESTS_UNIT_CHILD_BENCH_H

#include "tests/unit/unit.h"

#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "probes/child.h"
#include "probes/clock.h"
#include "probes/output.h"
#include "probes/remains.h"

/* s: for what takes milliseconds on a machine that has nothing else to do. */
#define PATIENCE 20

static struct ev_loop *loop;
static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};

struct seen {
	struct child *child;
	struct output output;
	unsigned int ends, failures;
	enum child_end end;
	int value;
	const char *step;
	int error;
	double started, at; /* monotonic */
};

static inline void on_output(void *owner, const void *bytes, size_t length)
{
	struct seen *seen = owner;

	assert_int_equal(seen->ends, 0);
	output_append(&seen->output, bytes, length);
}

static inline void on_ended(void *owner, enum child_end end, int value)
{
	struct seen *seen = owner;

	seen->ends++;
	seen->end = end;
	seen->value = value;
	seen->at = clock_monotonic();
}

static inline void on_failed(void *owner, const char *step, int error)
{
	struct seen *seen = owner;

	seen->failures++;
	seen->step = step;
	seen->error = error;
}

static inline void start(struct seen *seen, const struct child_spec *spec, struct remains *remains)
{
	const struct child_events events = {
		.output = on_output, .ended = on_ended, .failed = on_failed, .owner = seen};

	*seen = (struct seen){.started = clock_monotonic()};
	seen->child = child_start(loop, spec, &events, remains);
	assert_int_equal(seen->ends + seen->failures, 0);
}

static inline void start_shell(
	struct seen *seen, const char *text, double kill_grace, struct remains *remains)
{
	const char *const argv[] = {"sh", "-c", text, NULL};
	const struct child_spec spec = {
		.path = "/bin/sh", .argv = argv, .envp = environment, .kill_grace = kill_grace};

	start(seen, &spec, remains);
}

static inline void on_step(struct ev_loop *the_loop, ev_timer *watcher, int events)
{
	(void)watcher;
	(void)events;
	ev_break(the_loop, EVBREAK_ALL);
}

/* Lets the loop work for a while, one pass at least. */
static inline void turn(double seconds)
{
	ev_timer timer;

	ev_now_update(loop);
	ev_timer_init(&timer, on_step, seconds, 0);
	ev_timer_start(loop, &timer);
	ev_run(loop, 0);
	ev_timer_stop(loop, &timer);
}

static inline bool is_over(const struct seen *seen)
{
	return seen->ends + seen->failures > 0;
}

static inline void wait_over(const struct seen *seen)
{
	double end = clock_monotonic() + PATIENCE;

	while (!is_over(seen) && clock_monotonic() < end)
		turn(0.005);
	assert_true(is_over(seen));
}

/* Until nothing is left of any child. */
static inline void wait_gone(void)
{
	double end = clock_monotonic() + PATIENCE;

	while (child_count() > 0 && clock_monotonic() < end)
		turn(0.005);
	assert_int_equal(child_count(), 0);
}

static inline void release(struct seen *seen)
{
	child_release(seen->child);
	seen->child = NULL;
}

/* What it has written so far; valid until the next call. */
static inline const char *text_of(const struct seen *seen)
{
	static char *text;

	free(text);
	text = seen == NULL ? NULL : output_render(&seen->output, NULL);
	return text;
}

static inline void forget(struct seen *seen)
{
	release(seen);
	output_clear(&seen->output);
	(void)text_of(NULL);
}

/* One whole run of a shell text; the caller forgets it. */
static inline void run_shell(struct seen *seen, const char *text)
{
	start_shell(seen, text, 1, NULL);
	wait_over(seen);
}

static inline bool is_alive(pid_t pid)
{
	char path[64], text[256];
	FILE *file;
	bool alive = false;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	if (fgets(text, sizeof(text), file) != NULL) {
		const char *close = strrchr(text, ')');

		alive = close != NULL && close[2] != 'Z' && close[2] != 'X';
	}
	(void)fclose(file);
	return alive;
}

/* Waits until all it has written is this. */
static inline void wait_text(const struct seen *seen, const char *wanted)
{
	double end = clock_monotonic() + PATIENCE;

	while (strcmp(text_of(seen), wanted) != 0 && clock_monotonic() < end)
		turn(0.005);
	assert_string_equal(text_of(seen), wanted);
}

/* The pid that a script has printed; waits for it. */
static inline pid_t printed_pid(const struct seen *seen)
{
	double end = clock_monotonic() + PATIENCE;

	while (strtol(text_of(seen), NULL, 10) == 0 && clock_monotonic() < end)
		turn(0.005);
	assert_true(strtol(text_of(seen), NULL, 10) > 1);
	return (pid_t)strtol(text_of(seen), NULL, 10);
}

static inline void wait_dead(pid_t pid)
{
	double end = clock_monotonic() + PATIENCE;

	while (is_alive(pid) && clock_monotonic() < end)
		turn(0.005);
	assert_false(is_alive(pid));
}

static inline int bench_start(void **state)
{
	(void)state;
	loop = ev_default_loop(0);
	return loop == NULL ? -1 : child_setup(loop);
}

static inline int bench_stop(void **state)
{
	(void)state;
	child_finish(2);
	ev_loop_destroy(loop);
	return 0;
}

#endif
