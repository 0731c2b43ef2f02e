// SPDX-License-Identifier: MIT
/* The end of what children leave behind: TERM, KILL, and again after each death. */
#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/child_private.h"
#include "probes/clock.h"
#include "probes/notice.h"
#include "probes/remains.h"

/* s after KILL: enough for the kernel to take down a large process; see remains.h. */
#define STUBBORN_AFTER 1.0
/* s between two looks at a dying tree: its processes die in bursts, and one look takes many. */
#define SWEEP_PACE 0.01

static struct {
	struct ev_loop *loop;
	unsigned int leaving; /* children in that state */
	unsigned int orphans; /* without a mark, killed by the last sweep */
	bool strangers; /* processes that we did not start may be among our children */
	ev_child deaths; /* any of our children was reaped */
	ev_timer sweep;
} ending;

static void on_death(struct ev_loop *loop, ev_child *watcher, int events);
static void on_sweep(struct ev_loop *loop, ev_timer *watcher, int events);
static void on_patience(struct ev_loop *loop, ev_timer *watcher, int events);

void child_end_setup(struct ev_loop *loop)
{
	const pid_t *pids;

	ending.loop = loop;
	/*
	 * Where a shell started something else and then became us, or as the first process
	 * of a container, orphans without a mark need not come from a script.
	 */
	ending.strangers = getpid() == 1 || tree_children(&pids) > 0;
	ev_timer_init(&ending.sweep, on_sweep, SWEEP_PACE, 0);
	ev_child_init(&ending.deaths, on_death, 0, 0);
	ev_child_start(loop, &ending.deaths);
	ev_unref(loop); /* it alone keeps no loop running */
}

/* Whom a process below us belongs to, alive or dead; NULL if that cannot be said. */
static struct child *owner_of(const struct tree_process *process)
{
	char digits[TREE_RUN_DIGITS + 1];
	struct child *child, *owner = NULL;

	for (child = *child_bucket(process->session); child != NULL; child = child->next) {
		/* A living leader wins: the session of a dead one of that number is over. */
		if (child->pid == process->session && (owner == NULL || !child_is_reaped(child)))
			owner = child;
	}
	if (owner != NULL || !tree_run(process->pid, digits))
		return owner;
	for (size_t i = 0; i < CHILD_BUCKETS; i++) {
		for (child = child_table.buckets[i]; child != NULL; child = child->next) {
			if (strcmp(child->run + strlen(TREE_RUN_NAME), digits) == 0)
				return child;
		}
	}
	return NULL;
}

/* True if no script that runs now can have started it: then one that is over has. */
static bool is_forgotten(const struct tree_process *process)
{
	if (ending.strangers)
		return false;
	for (size_t i = 0; i < CHILD_BUCKETS; i++) {
		struct child *child;

		for (child = child_table.buckets[i]; child != NULL; child = child->next) {
			if (child->state != CHILD_LEAVING &&
				child->started <= process->started + tree_tick())
				return false;
		}
	}
	return true;
}

/* The child whose process this is, not yet reaped; or NULL. */
static struct child *leader_of(pid_t pid)
{
	struct child *child = *child_bucket(pid);

	while (child != NULL && (child->pid != pid || child_is_reaped(child)))
		child = child->next;
	return child;
}

/*
 * Signals one of our direct children that is no script itself. Nobody else can be
 * hit: its number is not given away before we have reaped it, nor is that of its group.
 */
static void end_orphan(pid_t pid)
{
	struct tree_process process;
	struct child *owner;

	if (!tree_inspect(pid, &process) || process.dead)
		return;
	owner = owner_of(&process);
	if (owner == NULL) {
		if (is_forgotten(&process)) {
			(void)kill(pid, SIGKILL);
			ending.orphans++;
		}
		return;
	}
	if (owner->state != CHILD_LEAVING)
		return;
	owner->members++;
	if (process.group != owner->pid) {
		(void)kill(pid, owner->signal);
	} else if (owner->signal == SIGKILL && !owner->group_killed) {
		/* TERM, if any, went to the group while its leader lived. */
		(void)kill(-process.group, SIGKILL);
		owner->group_killed = true;
	}
}

/* Signals what is left of the trees that are leaving and counts it in their members. */
static void sweep(void)
{
	const pid_t *pids;
	size_t count = tree_children(&pids);

	ending.orphans = 0;
	for (size_t i = 0; i < CHILD_BUCKETS; i++) {
		struct child *child;

		for (child = child_table.buckets[i]; child != NULL; child = child->next) {
			child->members = 0;
			child->group_killed = false;
		}
	}
	for (size_t i = 0; i < count; i++) {
		struct child *leader = leader_of(pids[i]);

		if (leader == NULL)
			end_orphan(pids[i]);
		else
			leader->members++;
	}
}

static void let_go(struct child *child)
{
	ev_timer_stop(child->loop, &child->patience);
	ending.leaving--;
	if (child->held && child->stubborn)
		remains_yielded(child->remains);
	if (child->held)
		remains_drop(child->remains);
	child_destroy(child);
}

/* Lets go of the trees of which the last sweep found nothing. */
static void retire(void)
{
	for (size_t i = 0; i < CHILD_BUCKETS; i++) {
		struct child *next;

		for (struct child *child = child_table.buckets[i]; child != NULL; child = next) {
			next = child->next;
			if (child->state == CHILD_LEAVING && child->members == 0)
				let_go(child);
		}
	}
}

/* Only while the child is not reaped is its number that of its group for certain. */
static void signal_group(const struct child *child)
{
	if (!child_is_reaped(child))
		(void)kill(-child->pid, child->signal);
}

void child_end_start(struct child *child)
{
	ev_set_cb(&child->patience, on_patience);
	ending.leaving++;
	child->signal = child->reaped || child->kill_grace <= 0 ? SIGKILL : SIGTERM;
	signal_group(child);
	sweep();
	if (child->members == 0) {
		let_go(child);
		return;
	}
	child->held = child->remains != NULL;
	if (child->held)
		remains_take(child->remains);
	child_start_timer(child, &child->patience,
		child->signal == SIGKILL ? STUBBORN_AFTER : child->kill_grace);
}

static void on_patience(struct ev_loop *loop, ev_timer *watcher, int events)
{
	struct child *child = watcher->data;

	(void)events;
	if (child->signal == SIGKILL) {
		child->stubborn = true;
		if (child->held)
			remains_stubborn(child->remains);
		notice("%s: a process of group %d lives on after SIGKILL", child->path,
			(int)child->pid);
		return;
	}
	child->signal = SIGKILL;
	signal_group(child);
	child_start_timer(child, &child->patience, STUBBORN_AFTER);
	on_sweep(loop, &ending.sweep, 0);
}

/* A death makes the children of the dead ours: look again. */
static void on_death(struct ev_loop *loop, ev_child *watcher, int events)
{
	(void)watcher;
	(void)events;
	if (ending.leaving > 0 && !ev_is_active(&ending.sweep)) {
		ev_timer_set(&ending.sweep, SWEEP_PACE, 0);
		ev_timer_start(loop, &ending.sweep);
	}
}

static void on_sweep(struct ev_loop *loop, ev_timer *watcher, int events)
{
	(void)events;
	ev_timer_stop(loop, watcher);
	sweep();
	retire();
}

static void kill_all(void)
{
	for (size_t i = 0; i < CHILD_BUCKETS; i++) {
		struct child *child;

		for (child = child_table.buckets[i]; child != NULL; child = child->next) {
			assert(child->state == CHILD_LEAVING);
			if (ev_is_pending(&child->reaper))
				child_note_reaped(child, child->reaper.rstatus);
			child->signal = SIGKILL;
			signal_group(child);
		}
	}
}

/* The loop has stopped: what libev would have told us is fetched here. */
static void reap(void)
{
	int wait_status;
	pid_t pid;

	while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
		struct child *leader = leader_of(pid);

		if (leader != NULL)
			child_note_reaped(leader, wait_status);
	}
}

void child_finish(double seconds)
{
	double end = clock_monotonic() + seconds;

	kill_all();
	for (;;) {
		reap();
		sweep();
		retire();
		if ((ending.leaving == 0 && ending.orphans == 0) || clock_monotonic() >= end)
			break;
		(void)poll(NULL, 0, (int)(SWEEP_PACE * 1000));
	}
	/* Those that died between the two looks. */
	reap();
	for (size_t i = 0; i < CHILD_BUCKETS; i++) {
		while (child_table.buckets[i] != NULL) {
			ev_child_stop(ending.loop, &child_table.buckets[i]->reaper);
			let_go(child_table.buckets[i]);
		}
	}
	if (ending.loop != NULL) {
		ev_timer_stop(ending.loop, &ending.sweep);
		ev_ref(ending.loop);
		ev_child_stop(ending.loop, &ending.deaths);
		ending.loop = NULL;
	}
	spawn_finish();
	tree_finish();
}
