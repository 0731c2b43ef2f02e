/* SPDX-License-Identifier: MIT */
/* runner/agent_queue.h: whose turn it is to call the agent, and whether anybody may. */
#ifndef RUNNER_AGENT_QUEUE_H
#define RUNNER_AGENT_QUEUE_H

#include <ev.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "runner/consul.h"

/*
 * The gate of an agent. A failure of the agent as a whole closes it; then one call
 * at a time tries, and the first that the agent answers opens it for all. Pure.
 */
struct agent_gate {
	bool closed;
	double retry_at; /* monotonic */
	double patience; /* monotonic: no sooner, because the agent asked for it; 0: it did not */
};

/* fraction: a random number in [0, 1). True if the gate has just closed. */
bool agent_gate_failed(struct agent_gate *gate, double now, double fraction);
void agent_gate_put_off(struct agent_gate *gate, double until); /* closed; within bounds */

/*
 * True if it has just opened. While the agent asks for patience an answer is to a call from
 * before that, and opens nothing.
 */
bool agent_gate_answered(struct agent_gate *gate, double now);
bool agent_gate_lets(const struct agent_gate *gate, double now, unsigned int in_flight);

struct agent_queue;

enum agent_turn {
	TURN_ORDINARY, /* after all others: heartbeats */
	TURN_URGENT,
	TURN_NEXT, /* before all others: what completes a call just answered */
};

/* One who has calls to make, at most one at a time: a check, a service, the inventory. */
struct agent_task {
	struct agent_queue *queue;
	void (*run)(struct agent_task *task); /* makes its call, or arms itself for later */
	ev_timer timer;
	TAILQ_ENTRY(agent_task) entry;
	enum agent_task_state {
		TASK_IDLE,
		TASK_TIMED,
		TASK_URGENT,
		TASK_ORDINARY,
	} state;
	double at; /* while TIMED; monotonic */
	enum agent_turn turn; /* once its time comes */
	struct consul_call *call; /* in flight, or NULL */
};

TAILQ_HEAD(agent_tasks, agent_task);

struct agent_queue {
	struct ev_loop *loop;
	struct agent_gate gate;
	struct agent_tasks urgent, ordinary; /* those whose time has come */
	ev_timer retry;
	unsigned int in_flight;
	bool running;
	void (*prepare)(void *owner); /* called before tasks run; may make others due */
	void *owner;
};

void agent_queue_init(struct agent_queue *queue, struct ev_loop *loop);
void agent_queue_finish(struct agent_queue *queue); /* all tasks are finished before */

/* Lets those run whose time has come, as far as connections and the gate allow. */
void agent_queue_run(struct agent_queue *queue);

void agent_task_init(
	struct agent_task *task, struct agent_queue *queue, void (*run)(struct agent_task *task));

/* Leaves the queue; a call in flight is dropped. True if it may still be applied. */
bool agent_task_finish(struct agent_task *task);

/* run is called at `at` (monotonic) or as soon after as possible; replaces an earlier time. */
void agent_task_due(struct agent_task *task, double at, enum agent_turn turn);
void agent_task_idle(struct agent_task *task);

/* A call was made for the task; its answer has come. */
void agent_task_called(struct agent_task *task, struct consul_call *call);
void agent_task_answered(struct agent_task *task);

#endif
