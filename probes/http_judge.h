/* SPDX-License-Identifier: MIT */
/* probes/http_judge.h: what an HTTP answer, or its absence, means. Pure. */
#ifndef PROBES_HTTP_JUDGE_H
#define PROBES_HTTP_JUDGE_H

#include "probes/http_answer.h"
#include "probes/http_failure.h"
#include "probes/outcome.h"
#include "probes/tls_session.h"

struct http_verdict {
	enum probe_status status;
	enum probe_reason reason;
	char *text; /* the detail; free() */
	struct measures values; /* that assertions have seen; measures_clear() */
};

/* An answer that came whole, or up to max_body. */
struct http_verdict http_judge(const struct http_answer *answer);

/* The same in the light of the server's certificates; not critical before. Takes verdict.text. */
struct http_verdict http_judge_expiry(
	struct http_verdict take_verdict, const struct tls_session *tls);

/* A transfer that did not end well, whatever the answer says so far. */
struct http_verdict http_judge_failure(
	const struct http_answer *answer, const struct http_failure *failure);

/* How far an unfinished answer is, one stable line; NULL while there is none. free(). */
char *http_answer_progress(const struct http_answer *answer);

#endif
