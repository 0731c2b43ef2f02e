/* SPDX-License-Identifier: MIT */
/* probes/child_tree.h: what /proc says of our own children; part of child.c, for nobody else. */
#ifndef PROBES_CHILD_TREE_H
#define PROBES_CHILD_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TREE_RUN_NAME "PROBITY_RUN="
#define TREE_RUN_DIGITS 32 /* hexadecimal: 128 bits, which nobody guesses or meets twice */

struct tree_process {
	pid_t pid;
	pid_t parent;
	pid_t group;
	pid_t session;
	bool dead; /* a zombie: nothing is below it any more */
	double started; /* s on the boot clock, cut to what /proc gives */
};

/* One step of the kernel's clock in /proc: started is up to this much too early. */
double tree_tick(void);

/* Our direct children, dead ones too. Returns their number; *ret_pids is borrowed until the next
 * call. */
size_t tree_children(const pid_t **ret_pids);

/* The same by a walk over /proc, for kernels without a list of children. */
size_t tree_children_slow(const pid_t **ret_pids);

/* False if there is no such process (any more). */
bool tree_inspect(pid_t pid, struct tree_process *ret_process);

/* Parses the text of /proc/PID/stat. */
bool tree_parse(const char *text, struct tree_process *ret_process);

/*
 * Copies the digits of the process's PROBITY_RUN, terminated. False if it has none or
 * does not let us look.
 */
bool tree_run(pid_t pid, char ret_digits[TREE_RUN_DIGITS + 1]);

void tree_finish(void); /* frees what is kept between calls */

#endif
