/* SPDX-License-Identifier: MIT */
/* runner/verdict.h: outcome -> result -> what is claimed. Pure. */
#ifndef RUNNER_VERDICT_H
#define RUNNER_VERDICT_H

#include "runner/settings.h"
#include "runner/threshold.h"

/* One finished run, judged by what the check asks beyond its probe. */
struct verdict {
	enum probe_status result;
	enum probe_reason reason;
	char *line; /* ours, "" for none; owned: verdict_finish() */
};

/* Takes the limits on latency into account; the outcome has ended. */
void verdict_init(
	struct verdict *verdict, const struct time_limits *limits, const struct outcome *outcome);
void verdict_finish(struct verdict *verdict);

/* What the thresholds and the cap make of it: the claim's status. state is decided. */
enum probe_status verdict_status(const struct threshold_state *state, enum probe_status max_status);

/*
 * The claim's text: the verdict's line with a word on a result that is not (yet)
 * what is claimed, then the run's own output. At most OUTPUT_MAX bytes; free().
 */
char *verdict_text(const struct verdict *verdict, const struct threshold_state *state,
	enum probe_status max_status, const struct output *output);

/* The first line of what a run said: ours, or of its output. Valid UTF-8; free(). */
char *verdict_first_line(const struct verdict *verdict, const struct output *output);

#endif
