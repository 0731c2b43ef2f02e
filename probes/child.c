// SPDX-License-Identifier: MIT
/* Children from their start to their verdict. */
#include "probes/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/child_private.h"
#include "probes/clock.h"

#define DRAIN 0.25 /* s: how long output is waited for that others than the child still hold */
#define READ_SIZE 65536 /* bytes: what a pipe holds */

struct child_table child_table;

static void on_failed(struct ev_loop *loop, ev_prepare *watcher, int events);
static void on_readable(struct ev_loop *loop, ev_io *watcher, int events);
static void on_reaped(struct ev_loop *loop, ev_child *watcher, int events);
static void on_drained(struct ev_loop *loop, ev_timer *watcher, int events);

int child_setup(struct ev_loop *loop)
{
	int result = spawn_setup();
	sigset_t none;

	if (result < 0)
		return result;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
		result = -errno;
		spawn_finish();
		return result;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	/* libev unblocks nothing by itself: with SIGCHLD blocked no child would ever end. */
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	child_end_setup(loop);
	return 0;
}

struct child **child_bucket(pid_t pid)
{
	return &child_table.buckets[(unsigned int)pid % CHILD_BUCKETS];
}

void child_start_timer(struct child *child, ev_timer *timer, double after)
{
	/* Relative timers count from the loop's cached time, which may be a callback old. */
	ev_now_update(child->loop);
	ev_timer_stop(child->loop, timer);
	ev_timer_set(timer, after, 0);
	ev_timer_start(child->loop, timer);
}

static void make_run_name(struct child *child)
{
	unsigned char bytes[TREE_RUN_DIGITS / 2];
	char *next = stpcpy(child->run, TREE_RUN_NAME);

	clock_random(bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		next += snprintf(next, 3, "%02x", bytes[i]);
}

static struct child *create(struct ev_loop *loop, const struct child_spec *spec,
	const struct child_events *events, struct remains *remains)
{
	struct child *child = xcalloc(1, sizeof(*child));

	child->loop = loop;
	child->events = *events;
	child->remains = remains;
	child->kill_grace = spec->kill_grace;
	child->path = xstrdup(spec->path);
	child->output = -1;
	child->started = clock_boot();
	child->reaper.data = child->readable.data = child->drain.data = child;
	child->patience.data = child->told.data = child;
	ev_init(&child->told, on_failed);
	ev_init(&child->reaper, on_reaped);
	ev_init(&child->readable, on_readable);
	ev_init(&child->drain, on_drained);
	ev_init(&child->patience, NULL);
	make_run_name(child);
	child_table.count++;
	return child;
}

struct child *child_start(struct ev_loop *loop, const struct child_spec *spec,
	const struct child_events *events, struct remains *remains)
{
	struct child *child = create(loop, spec, events, remains);

	child->pid = spawn_start(spec, child->run, &child->output, &child->failure);
	if (child->pid < 0) {
		child->state = CHILD_FAILED;
		ev_feed_event(loop, &child->told, EV_CUSTOM);
		return child;
	}
	child->state = CHILD_RUNNING;
	child->next = *child_bucket(child->pid);
	*child_bucket(child->pid) = child;
	ev_child_set(&child->reaper, child->pid, 0);
	ev_child_start(loop, &child->reaper);
	ev_io_set(&child->readable, child->output, EV_READ);
	ev_io_start(loop, &child->readable);
	return child;
}

static void on_failed(struct ev_loop *loop, ev_prepare *watcher, int events)
{
	struct child *child = watcher->data;

	(void)loop;
	(void)events;
	child->events.failed(child->events.owner, child->failure.step, child->failure.error);
}

static void close_output(struct child *child)
{
	if (child->output < 0)
		return;
	ev_io_stop(child->loop, &child->readable);
	(void)close(child->output);
	child->output = -1;
}

/*
 * One read: a child that floods us gets one turn a pass, like everyone else. True if
 * there may be more.
 */
static bool read_output(struct child *child)
{
	static char bytes[READ_SIZE];
	ssize_t length;

	if (child->output < 0)
		return false;
	length = read(child->output, bytes, sizeof(bytes));
	if (length > 0)
		child->events.output(child->events.owner, bytes, (size_t)length);
	else if (length == 0 || (errno != EAGAIN && errno != EINTR))
		close_output(child);
	return length > 0;
}

static void tell_end(struct child *child)
{
	bool exited = WIFEXITED(child->wait_status);

	ev_timer_stop(child->loop, &child->drain);
	close_output(child);
	child->state = CHILD_ENDED;
	child->events.ended(child->events.owner, exited ? CHILD_EXITED : CHILD_KILLED,
		exited ? WEXITSTATUS(child->wait_status) : WTERMSIG(child->wait_status));
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct child *child = watcher->data;

	(void)loop;
	(void)events;
	(void)read_output(child);
	if (child->state == CHILD_DRAINING && child->output < 0)
		tell_end(child);
}

static void on_drained(struct ev_loop *loop, ev_timer *watcher, int events)
{
	(void)loop;
	(void)events;
	tell_end(watcher->data);
}

bool child_is_reaped(const struct child *child)
{
	return child->reaped || ev_is_pending(&child->reaper);
}

void child_note_reaped(struct child *child, int wait_status)
{
	ev_child_stop(child->loop, &child->reaper);
	child->reaped = true;
	child->wait_status = wait_status;
}

static void on_reaped(struct ev_loop *loop, ev_child *watcher, int events)
{
	struct child *child = watcher->data;

	(void)loop;
	(void)events;
	child_note_reaped(child, watcher->rstatus);
	if (child->state != CHILD_RUNNING)
		return;
	child->state = CHILD_DRAINING;
	/* Most often all of its output is here, and the end of it too. */
	if (read_output(child))
		(void)read_output(child);
	if (child->output < 0)
		tell_end(child);
	else
		child_start_timer(child, &child->drain, DRAIN);
}

void child_expire(struct child *child)
{
	/* libev has reaped it in this very pass, and the callback has not had its turn. */
	if (ev_is_pending(&child->reaper)) {
		(void)ev_clear_pending(child->loop, &child->reaper);
		on_reaped(child->loop, &child->reaper, EV_CHILD);
	}
	if (child->state == CHILD_DRAINING)
		tell_end(child);
}

void child_destroy(struct child *child)
{
	struct child **link = child_bucket(child->pid);

	if (child->state != CHILD_FAILED) {
		while (*link != child)
			link = &(*link)->next;
		*link = child->next;
	}
	child_table.count--;
	free(child->path);
	free(child);
}

void child_release(struct child *child)
{
	if (child == NULL)
		return;
	close_output(child);
	ev_timer_stop(child->loop, &child->drain);
	(void)ev_clear_pending(child->loop, &child->told);
	if (child->state == CHILD_FAILED) {
		child_destroy(child);
		return;
	}
	if (ev_is_pending(&child->reaper))
		child_note_reaped(child, child->reaper.rstatus);
	child->state = CHILD_LEAVING;
	child_end_start(child);
}

unsigned int child_count(void)
{
	return child_table.count;
}
