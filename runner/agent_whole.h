/* SPDX-License-Identifier: MIT */
/* runner/agent_whole.h: the agent with all its services and checks; private to agent*.c. */
#ifndef RUNNER_AGENT_WHOLE_H
#define RUNNER_AGENT_WHOLE_H

#include "runner/agent_parts.h"

struct agent {
	struct agent_task inventory; /* asks for all checks of the agent */
	struct agent_queue queue;
	struct ev_loop *loop;
	const struct settings *settings;
	struct consul *consul; /* NULL: off */
	struct agent_check **checks; /* by id */
	size_t check_count;
	struct agent_service **services; /* by id */
	size_t service_count;
	struct agent_leftover *leftovers; /* a list: see agent_inventory.c */

	bool taken; /* there has been an inventory */
	bool take_again; /* something happened while one was under way */
	double taken_at, inventory_delay; /* monotonic: when the last one was asked for; s */
	char *problem; /* why nothing gets through; NULL for none */
	double changed_at; /* boot */
	unsigned long calls, failures;
	size_t troubled[TROUBLE_COUNT]; /* checks by trouble */
	bool away; /* nobody listened: the agent may be another one since */
	size_t vigils;
	struct agent_readback readback;
	bool lost_said; /* that some are missing; the end of it is owed */
	bool reread; /* the token was refused: read its file again */
	ev_timer token; /* while calls are refused: a new token is noticed within 1 s */

	void (*stopped)(void *owner); /* NULL: not stopping */
	void *owner;
	size_t to_stop; /* checks with something left to say, and what else is waited for */
	struct unit_question *question; /* NULL: none */
	ev_timer stop;
};

#endif
