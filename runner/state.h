/* SPDX-License-Identifier: MIT */
/* runner/state.h: the thresholds' state across a restart, in a file in the runtime directory. */
#ifndef RUNNER_STATE_H
#define RUNNER_STATE_H

#include "runner/threshold.h"

/* What an earlier process of this boot left. NULL stands for nothing. */
struct state;

/*
 * Reads <dir>/state.json. NULL if there is none, it is damaged or of another boot:
 * then every check starts anew. *ret_problem is a line for the log where something
 * was there and could not be used, else NULL (free()).
 */
struct state *state_load(const char *dir, char **ret_problem);
void state_destroy(struct state *state); /* accepts NULL */

/* False if the check was not there. */
bool state_find(const struct state *state, const char *check_id, struct threshold_state *ret_state);

/* A file in the making; state_add for each check, then state_save, which frees it. */
struct state_writer;

struct state_writer *state_writer_create(void);
void state_add(
	struct state_writer *writer, const char *check_id, const struct threshold_state *state);

/* Replaces the file in one step. 0, or negative errno: then the old file stands. */
int state_save(struct state_writer *take_writer, const char *dir);

#endif
