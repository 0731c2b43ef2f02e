/* SPDX-License-Identifier: MIT */
/* probes/redis_judge.h: what a reply means to the step that it answers. Pure. */
#ifndef PROBES_REDIS_JUDGE_H
#define PROBES_REDIS_JUDGE_H

#include "probes/measures.h"
#include "probes/outcome.h"
#include "probes/redis_conf.h"
#include "probes/redis_reply.h"

struct redis_verdict {
	enum probe_status status; /* critical ends the session */
	enum probe_reason reason;
	char *text; /* why, or what was seen; NULL where nothing is worth a word; free() */
	bool show; /* the reply itself tells more */
};

/*
 * Numbers seen go to values, limits to the trace, which may be NULL. Texts may quote the
 * reply: whoever shows them hides the secrets in them.
 */
struct redis_verdict redis_judge(const struct redis_conf *conf, const struct redis_step *step,
	const struct redis_reply *reply, struct measures *values, struct trace *trace);

#endif
