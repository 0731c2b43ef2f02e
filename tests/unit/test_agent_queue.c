// SPDX-License-Identifier: MIT
/* The gate, and the order in which tasks get their turn. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "probes/clock.h"
#include "runner/agent_queue.h"

static void the_gate_lets_one_try_each_second(void **unused)
{
	struct agent_gate gate = {0};

	(void)unused;
	assert_true(agent_gate_lets(&gate, 100, CONSUL_CONNECTIONS - 1));
	assert_false(agent_gate_lets(&gate, 100, CONSUL_CONNECTIONS));
	assert_false(agent_gate_answered(&gate, 102.1));
	assert_true(agent_gate_failed(&gate, 100, 0));
	assert_false(agent_gate_lets(&gate, 100.9, 0));
	assert_true(agent_gate_lets(&gate, 101, 0));
	assert_false(agent_gate_lets(&gate, 101, 1));
	assert_false(agent_gate_failed(&gate, 101, 0.999));
	assert_false(agent_gate_lets(&gate, 102, 0));
	assert_true(agent_gate_lets(&gate, 102.1, 0));
	assert_true(agent_gate_answered(&gate, 102.1));
	assert_true(agent_gate_lets(&gate, 102.1, 3));
}

static void the_gate_is_patient_within_bounds(void **unused)
{
	struct agent_gate gate = {0};

	(void)unused;
	(void)agent_gate_failed(&gate, 100, 0);
	agent_gate_put_off(&gate, 100.5); /* no sooner than without it */
	assert_true(agent_gate_lets(&gate, 101, 0));
	agent_gate_put_off(&gate, 104);
	assert_false(agent_gate_lets(&gate, 103.9, 0));
	assert_true(agent_gate_lets(&gate, 104, 0));
	(void)agent_gate_failed(&gate, 200, 0);
	agent_gate_put_off(&gate, 3800);
	assert_false(agent_gate_lets(&gate, 210.9, 0));
	assert_true(agent_gate_lets(&gate, 211, 0));
}

/* Tasks that write their names down; upper-case ones "call" and stay in flight. */
static char order[64];
static int prepared;

struct named {
	struct agent_task task;
	char name;
};

bool consul_cancel(struct consul_call *call)
{
	(void)call;
	return false;
}

static void note(struct agent_task *task)
{
	char name = ((struct named *)task)->name;

	strncat(order, &name, 1);
	if (name >= 'A' && name <= 'Z')
		agent_task_called(task, (struct consul_call *)order);
}

static void prepare(void *owner)
{
	(void)owner;
	prepared++;
}

static void set_up(struct agent_queue *queue, struct named *tasks, const char *names)
{
	order[0] = '\0';
	prepared = 0;
	agent_queue_init(queue, ev_default_loop(0));
	queue->prepare = prepare;
	for (size_t i = 0; names[i] != '\0'; i++) {
		tasks[i] = (struct named){.name = names[i]};
		agent_task_init(&tasks[i].task, queue, note);
	}
}

static void tear_down(struct agent_queue *queue, struct named *tasks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		(void)agent_task_finish(&tasks[i].task);
	assert_int_equal(queue->in_flight, 0);
	agent_queue_finish(queue);
	ev_loop_destroy(ev_default_loop(0));
}

/* A second call was on its way when the first was asked to wait: its answer is no invitation. */
static void an_answer_from_before_does_not_end_patience(void **unused)
{
	struct agent_gate gate = {0};

	(void)unused;
	(void)agent_gate_failed(&gate, 100, 0);
	agent_gate_put_off(&gate, 104);
	assert_false(agent_gate_answered(&gate, 100.1));
	assert_false(agent_gate_failed(&gate, 100.2, 0));
	assert_false(agent_gate_lets(&gate, 103.9, 0));
	assert_true(agent_gate_lets(&gate, 104, 0));
	assert_true(agent_gate_answered(&gate, 104.1));
	assert_true(agent_gate_lets(&gate, 104.1, 3));
}

static void urgent_tasks_go_first_and_connections_are_few(void **unused)
{
	struct agent_queue queue;
	struct named tasks[8];

	(void)unused;
	set_up(&queue, tasks, "ABCDEfGh");
	for (size_t i = 0; i < 4; i++)
		agent_task_due(&tasks[i].task, 0, TURN_ORDINARY);
	assert_string_equal(order, "ABCD");
	for (size_t i = 4; i < 8; i++)
		agent_task_due(&tasks[i].task, 0, i % 2 == 1 ? TURN_URGENT : TURN_ORDINARY);
	assert_string_equal(order, "ABCD");
	agent_task_answered(&tasks[1].task);
	agent_queue_run(&queue);
	assert_string_equal(order, "ABCDfhE");
	agent_task_answered(&tasks[2].task);
	agent_queue_run(&queue);
	assert_string_equal(order, "ABCDfhEG");
	tear_down(&queue, tasks, 8);
}

static void one_who_waits_keeps_the_place(void **unused)
{
	struct agent_queue queue;
	struct named tasks[3];

	(void)unused;
	set_up(&queue, tasks, "abc");
	(void)agent_gate_failed(&queue.gate, clock_monotonic() + 100, 0);
	for (size_t i = 0; i < 3; i++)
		agent_task_due(&tasks[i].task, 0, TURN_ORDINARY);
	agent_task_due(&tasks[0].task, 0, TURN_ORDINARY);
	agent_task_idle(&tasks[1].task);
	assert_string_equal(order, "");
	(void)agent_gate_answered(&queue.gate, clock_monotonic());
	agent_queue_run(&queue);
	assert_string_equal(order, "ac");
	tear_down(&queue, tasks, 3);
}

static void closed_gate_tries_again_by_itself(void **unused)
{
	struct agent_queue queue;
	struct named tasks[2];
	double begin = clock_monotonic();

	(void)unused;
	set_up(&queue, tasks, "AB");
	(void)agent_gate_failed(&queue.gate, begin - 0.6, 0);
	agent_task_due(&tasks[0].task, 0, TURN_URGENT);
	agent_task_due(&tasks[1].task, 0, TURN_URGENT);
	assert_string_equal(order, "");
	while (order[0] == '\0')
		ev_run(ev_default_loop(0), EVRUN_ONCE);
	assert_true(clock_monotonic() - begin >= 0.39);
	assert_string_equal(order, "A");
	assert_true(prepared > 0);
	tear_down(&queue, tasks, 2);
}

static void tasks_run_when_their_time_comes(void **unused)
{
	struct agent_queue queue;
	struct named tasks[2];
	double begin = clock_monotonic();

	(void)unused;
	set_up(&queue, tasks, "ab");
	agent_task_due(&tasks[0].task, begin + 60, TURN_URGENT);
	agent_task_due(&tasks[1].task, begin + 0.05, TURN_URGENT);
	agent_task_due(&tasks[0].task, begin + 0.1, TURN_URGENT);
	ev_run(ev_default_loop(0), 0);
	assert_string_equal(order, "ba");
	assert_true(clock_monotonic() - begin >= 0.09);
	tear_down(&queue, tasks, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_gate_lets_one_try_each_second),
		cmocka_unit_test(the_gate_is_patient_within_bounds),
		cmocka_unit_test(an_answer_from_before_does_not_end_patience),
		cmocka_unit_test(urgent_tasks_go_first_and_connections_are_few),
		cmocka_unit_test(one_who_waits_keeps_the_place),
		cmocka_unit_test(closed_gate_tries_again_by_itself),
		cmocka_unit_test(tasks_run_when_their_time_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
