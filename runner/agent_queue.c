// SPDX-License-Identifier: MIT
/* Who calls the agent next: changes first, few at a time, one at a time while it fails. */
#include "runner/agent_queue.h"

#include <assert.h>
#include <math.h>

#include "probes/clock.h"

#define RETRY 1.0 /* s: a returning agent hears of us within two */
#define MOST_PATIENCE 10.0 /* s that an agent may ask for: a third of a TTL has to be left */
#define JITTER 0.1 /* of RETRY: the hosts of one broken network do not come back in step */

bool agent_gate_failed(struct agent_gate *gate, double now, double fraction)
{
	bool was_closed = gate->closed;

	gate->closed = true;
	gate->retry_at = fmax(now + RETRY * (1 + JITTER * fraction), gate->patience);
	return !was_closed;
}

void agent_gate_put_off(struct agent_gate *gate, double until)
{
	gate->retry_at = fmax(gate->retry_at, fmin(until, gate->retry_at + MOST_PATIENCE));
	gate->patience = gate->retry_at;
}

bool agent_gate_answered(struct agent_gate *gate, double now)
{
	bool was_closed = gate->closed;

	if (was_closed && now < gate->patience)
		return false;
	*gate = (struct agent_gate){0};
	return was_closed;
}

bool agent_gate_lets(const struct agent_gate *gate, double now, unsigned int in_flight)
{
	if (!gate->closed)
		return in_flight < CONSUL_CONNECTIONS;
	return in_flight == 0 && now >= gate->retry_at;
}

static void start_timer(struct ev_loop *loop, ev_timer *timer, double at)
{
	ev_timer_stop(loop, timer);
	ev_now_update(loop);
	ev_timer_set(timer, fmax(at - clock_monotonic(), 0), 0);
	ev_timer_start(loop, timer);
}

static void on_retry(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	agent_queue_run(timer->data);
}

void agent_queue_init(struct agent_queue *queue, struct ev_loop *loop)
{
	*queue = (struct agent_queue){.loop = loop};
	TAILQ_INIT(&queue->urgent);
	TAILQ_INIT(&queue->ordinary);
	ev_init(&queue->retry, on_retry);
	queue->retry.data = queue;
}

void agent_queue_finish(struct agent_queue *queue)
{
	assert(TAILQ_EMPTY(&queue->urgent) && TAILQ_EMPTY(&queue->ordinary));
	ev_timer_stop(queue->loop, &queue->retry);
}

static struct agent_task *first(const struct agent_queue *queue)
{
	struct agent_task *task = TAILQ_FIRST(&queue->urgent);

	return task != NULL ? task : TAILQ_FIRST(&queue->ordinary);
}

void agent_queue_run(struct agent_queue *queue)
{
	struct agent_task *task;
	double now = clock_monotonic();

	if (queue->running) /* a task that ran has made another one due */
		return;
	queue->running = true;
	if (first(queue) != NULL)
		queue->prepare(queue->owner);
	while ((task = first(queue)) != NULL &&
		agent_gate_lets(&queue->gate, now, queue->in_flight)) {
		agent_task_idle(task);
		task->run(task);
	}
	queue->running = false;
	if (task != NULL && queue->gate.closed && queue->in_flight == 0)
		start_timer(queue->loop, &queue->retry, queue->gate.retry_at);
}

static void enqueue(struct agent_task *task)
{
	struct agent_queue *queue = task->queue;

	if (task->turn == TURN_NEXT)
		TAILQ_INSERT_HEAD(&queue->urgent, task, entry);
	else if (task->turn == TURN_URGENT)
		TAILQ_INSERT_TAIL(&queue->urgent, task, entry);
	else
		TAILQ_INSERT_TAIL(&queue->ordinary, task, entry);
	task->state = task->turn == TURN_ORDINARY ? TASK_ORDINARY : TASK_URGENT;
	agent_queue_run(queue);
}

static void on_due(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	enqueue(timer->data);
}

void agent_task_init(
	struct agent_task *task, struct agent_queue *queue, void (*run)(struct agent_task *task))
{
	task->queue = queue;
	task->run = run;
	ev_init(&task->timer, on_due);
	task->timer.data = task;
}

bool agent_task_finish(struct agent_task *task)
{
	bool sent = false;

	agent_task_idle(task);
	if (task->call != NULL) {
		sent = consul_cancel(task->call);
		task->call = NULL;
		task->queue->in_flight--;
	}
	return sent;
}

void agent_task_due(struct agent_task *task, double at, enum agent_turn turn)
{
	assert(task->call == NULL);
	task->turn = turn;
	if (at > clock_monotonic()) {
		if (task->state == TASK_TIMED && task->at >= at && task->at <= at)
			return;
		agent_task_idle(task);
		task->state = TASK_TIMED;
		task->at = at;
		start_timer(task->queue->loop, &task->timer, at);
		return;
	}
	/* Who waits already keeps the place. */
	if (task->state == (turn == TURN_ORDINARY ? TASK_ORDINARY : TASK_URGENT))
		return;
	agent_task_idle(task);
	enqueue(task);
}

void agent_task_idle(struct agent_task *task)
{
	switch (task->state) {
	case TASK_IDLE:
		break;
	case TASK_TIMED:
		ev_timer_stop(task->queue->loop, &task->timer);
		break;
	case TASK_URGENT:
		TAILQ_REMOVE(&task->queue->urgent, task, entry);
		break;
	case TASK_ORDINARY:
		TAILQ_REMOVE(&task->queue->ordinary, task, entry);
		break;
	}
	task->state = TASK_IDLE;
}

void agent_task_called(struct agent_task *task, struct consul_call *call)
{
	assert(task->call == NULL);
	task->call = call;
	task->queue->in_flight++;
}

void agent_task_answered(struct agent_task *task)
{
	task->call = NULL;
	task->queue->in_flight--;
}
