/* SPDX-License-Identifier: MIT */
/* probes/sql_judge.h: what the answers of a database mean. Pure. */
#ifndef PROBES_SQL_JUDGE_H
#define PROBES_SQL_JUDGE_H

#include <stddef.h>

#include "probes/measures.h"
#include "probes/outcome.h"
#include "probes/sql.h"

#define SQL_SHOWN 100 /* bytes of a value in a message */

struct sql_state {
	bool replica, read_only;
	double lag; /* s; NAN: not known. Of a replica only */
	const char *lag_unknown; /* why, where lag is NAN: "replication is stopped"; borrowed */
};

struct sql_answer {
	size_t rows; /* 1 stands for any more */
	const char *value; /* first column of the first row, not terminated; NULL: NULL */
	size_t length;
};

/* Zeroes, but for the last two, before the first judgement: passing, and nothing to say. */
struct sql_verdict {
	enum probe_status status;
	enum probe_reason reason;
	char *text; /* owned; NULL: nothing */
	struct measures *measures; /* gets "lag" (s) and "value"; may be NULL */
	struct trace *trace; /* gets what was looked at; may be NULL */
};

/*
 * Each adds what it finds: the worst status stands, with the texts of all that is as bad.
 * While all passes the text says what was found ("replica, read-only"), or is NULL.
 */
void sql_judge_state(
	const struct sql_conf *conf, const struct sql_state *state, struct sql_verdict *verdict);

/*
 * Without expect and value any answer is fine. With them no row, NULL and (value) what is
 * no number are critical; of several rows the first counts.
 */
void sql_judge_answer(
	const struct sql_conf *conf, const struct sql_answer *answer, struct sql_verdict *verdict);

void sql_verdict_finish(struct sql_verdict *verdict); /* frees the text */

#endif
