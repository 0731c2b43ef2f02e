/* SPDX-License-Identifier: MIT */
/* runner/waterfall.h: the trace of one run, phases as bars, as `probity probe -v` shows it. */
#ifndef RUNNER_WATERFALL_H
#define RUNNER_WATERFALL_H

#include <jansson.h>

#include "probes/outcome.h"
#include "runner/table.h"

/* Adds notes below the last row; nothing where the outcome has no trace. The run has ended. */
void waterfall_add(struct table *table, const struct outcome *outcome);

/* [{"at": seconds since the start, "kind": ..., "text": ...}, ...]; null without a trace. */
json_t *waterfall_json(const struct outcome *outcome);

#endif
