/* SPDX-License-Identifier: MIT */
/* probes/dns_judge.h: whether an answer is what was wanted. Pure. */
#ifndef PROBES_DNS_JUDGE_H
#define PROBES_DNS_JUDGE_H

#include "probes/dns_conf.h"
#include "probes/outcome.h"

struct dns_verdict {
	enum probe_status status;
	enum probe_reason reason;
	char *text; /* what it is, to be followed by "from SERVER"; owned */

	/* A resolver would put it down to the server, and ask the next one. */
	bool next;
};

/* The answer is not truncated. The caller frees ret_verdict->text. */
void dns_judge(const struct dns_conf *conf, const struct dns_answer *answer,
	struct dns_verdict *ret_verdict);

#endif
