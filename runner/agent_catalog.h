/* SPDX-License-Identifier: MIT */
/* runner/agent_catalog.h: what readers of the catalog see of us; private to agent*.c. */
#ifndef RUNNER_AGENT_CATALOG_H
#define RUNNER_AGENT_CATALOG_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

#include "probes/outcome.h"
#include "runner/sighting.h"

struct agent;
struct agent_check;

/* What the catalog says of a check, against what the agent was told. */
enum agent_finding {
	FINDING_NONE,
	FINDING_ABSENT, /* it has no such check */
	FINDING_FROZEN, /* another status, and always the same entry */
	FINDING_WRITER, /* another status, written anew */
	FINDING_OUTPUT, /* another output, long after it was told */
};

struct agent_echo {
	/* Monotonic: since when the agent has been told the same; 0: it has not been told. */
	double status_at, output_at;
	enum probe_status status;
	unsigned long version; /* of the claim */
	struct sighting sighting;
	long long index; /* of the entry that was last seen to differ */
	unsigned int look; /* the last in which it was there */
	enum agent_finding finding; /* the last */
	char *problem; /* for status, while it is there; NULL for none */
};

/* Looks at the catalog from time to time. */
struct agent_readback {
	ev_timer next;
	struct consul_call *call; /* NULL: none is under way */
	char *node; /* as the agent names itself; NULL: not known yet */
	double started; /* monotonic: of the last look */
	unsigned int look; /* its number */
	char *problem; /* why it sees nothing; NULL: it does, or has not tried */
	struct sighting maintenance; /* of the node */
	char *maintenance_text; /* for status; NULL for none */
};

/* agent_readback.c */

void agent_readback_init(struct agent *agent);
void agent_readback_start(struct agent *agent);
void agent_readback_stop(struct agent *agent); /* and forgets what it knew */

/* agent_echo.c: one check in the catalog */

void agent_echo_told(struct agent_check *check); /* an update was accepted */
void agent_echo_judge(struct agent_check *check, const json_t *entry); /* NULL: it is not there */
void agent_echo_finish(struct agent_check *check);

#endif
