/* SPDX-License-Identifier: MIT */
/* probes/child_spawn.h: one new process with everything set; part of child.c, for nobody else. */
#ifndef PROBES_CHILD_SPAWN_H
#define PROBES_CHILD_SPAWN_H

#include <sys/types.h>

#include "probes/child.h"

struct spawn_failure {
	const char *step; /* static */
	int error; /* errno */
};

/* Opens what every start needs; 0 or negative errno. */
int spawn_setup(void);
void spawn_finish(void);

/*
 * Starts a process in a session of its own; run is put before the environment, as
 * NAME=VALUE. Returns its pid, and in *ret_output the readable end of its standard
 * output and error, non-blocking and the caller's. -1: *ret_failure says why.
 */
pid_t spawn_start(const struct child_spec *spec, const char *run, int *ret_output,
	struct spawn_failure *ret_failure);

#endif
