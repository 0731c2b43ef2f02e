/* SPDX-License-Identifier: MIT */
/* runner/probe_table.h: what `probity probe` prints. */
#ifndef RUNNER_PROBE_TABLE_H
#define RUNNER_PROBE_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "probes/outcome.h"

/* One run; everything is borrowed. */
struct probe_result {
	const char *name, *id, *target;
	bool is_member; /* shown for the check that is made of it: not part of the exit code */
	bool ran; /* false: interrupted before its end */
	enum probe_status status; /* with the limits on latency */
	const char *line; /* ours, NULL or "" for none */
	const struct outcome *outcome;
};

struct probe_table_style {
	bool json;
	bool verbose; /* the trace of each run */
};

/* Prints all results. Returns the exit code: the worst status, 3 if one did not run. */
int probe_table_print(const struct probe_result *results, size_t count,
	const struct probe_table_style *style, FILE *stream);

#endif
