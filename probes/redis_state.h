/* SPDX-License-Identifier: MIT */
/* probes/redis_state.h: what a server tells of itself: fields, role, masters. Pure. */
#ifndef PROBES_REDIS_STATE_H
#define PROBES_REDIS_STATE_H

#include "probes/redis_judge.h"

struct redis_field { /* borrowed from the reply */
	const char *text; /* not terminated */
	size_t length;
};

bool redis_field_is(const struct redis_field *field, const char *text);

/* The value of "name:value" in lines that CR LF or LF ends. */
bool redis_info_find(
	const struct redis_reply *reply, const char *name, struct redis_field *ret_field);

/* The element behind the element `name`, in an array of names and values. */
bool redis_pairs_find(
	const struct redis_reply *reply, const char *name, struct redis_field *ret_field);

/* A critical verdict. */
struct redis_verdict redis_bad(enum probe_reason reason, char *take_text);

/* The reply to INFO replication: role, and how far behind its master it is. */
struct redis_verdict redis_judge_replication(const struct redis_conf *conf,
	const struct redis_step *step, const struct redis_reply *reply, struct measures *values,
	struct trace *trace);

/* The reply to SENTINEL MASTER. */
struct redis_verdict redis_judge_sentinel(const struct redis_conf *conf,
	const struct redis_step *step, const struct redis_reply *reply);

#endif
