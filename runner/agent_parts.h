/* SPDX-License-Identifier: MIT */
/* runner/agent_parts.h: a service and a check on the agent; private to agent*.c. */
#ifndef RUNNER_AGENT_PARTS_H
#define RUNNER_AGENT_PARTS_H

#include "runner/agent.h"
#include "runner/agent_catalog.h"
#include "runner/agent_queue.h"
#include "runner/publish.h"
#include "runner/register.h"

/* Each task is the first member: its callbacks find the whole by it. */
enum agent_service_step {
	SERVICE_LOOK, /* is it on the agent? */
	SERVICE_REGISTER, /* ours, and not there: with all its checks */
	SERVICE_UPDATE, /* ours, and not as configured: without them */
	SERVICE_SETTLED,
};

/* Hears of the end of a service at once: by a call that the agent answers when it changes. */
struct agent_vigil {
	struct agent_service *service;
	struct consul_call *call; /* NULL: none is under way */
	char *hash; /* of the service as it was last seen; NULL: none is kept */
	double since; /* monotonic: of the call */
	double delay; /* s, after a failure; 0: none */
	ev_timer next;
};

struct agent_service {
	struct agent_task task;
	struct agent *agent;
	const struct service_conf *conf;
	enum agent_service_step step, called; /* the next; that of the call under way */
	double at; /* monotonic: when the step is due */
	bool there; /* on the agent, as far as known */
	bool waiting; /* said: not there, and not ours to register */
	double uncounted_since; /* monotonic: only a later inventory knows its checks */
	bool counted, leaving; /* leaving: to be deregistered at the end */
	size_t check_count; /* on the agent, whoever registered them */
	double delay; /* s, after a refusal; 0: none */
	bool reaped; /* removed by the agent, as one of its checks was critical for long */
	struct agent_vigil vigil;
	struct sighting maintenance;
	char *maintenance_text; /* for status; NULL for none */
	char *problem; /* for status; NULL for none */
};

/* Why a check is not on the agent as it should be. */
enum agent_trouble {
	TROUBLE_NONE,
	TROUBLE_LOST, /* the agent forgot it */
	TROUBLE_REFUSED, /* 403, 400 */
	TROUBLE_CLASH, /* something else has its id */
	TROUBLE_REAPED, /* the agent has removed its service, as it was told to */
	TROUBLE_COUNT,
};

struct agent_check {
	struct agent_task task;
	struct agent *agent;
	const struct check_conf *conf;
	struct agent_service *service; /* NULL for a node check */
	struct publish_slot slot;
	enum register_presence presence;
	/* Versions of what is registered: wanted, under way, and on the agent. */
	unsigned int definition, sent_definition, known_definition;
	bool at_once; /* its service has no check: register it undecided */
	bool was_absent; /* new on the agent: an old one may stand in until it is acknowledged */
	bool evict; /* taken over from another type, whose monitor ends only by a deregistration */
	bool look; /* the next call is a look, due at look_at */
	double look_at;
	char *doubt; /* what an update was answered that the agent could not place */
	double doubted_at; /* monotonic: when that update was sent */
	double sent_at; /* monotonic: of the last call */
	double known_at; /* monotonic: when it was last known to be there */
	double not_before; /* monotonic: for registrations */
	double delay; /* s, after a refusal; 0: none */
	double critical_at; /* monotonic: since when the agent has been told so; 0: it is not */
	double acknowledged_at; /* boot; 0: never by this process */
	bool adopted;
	enum probe_status adopted_status;
	struct agent_echo echo;
	enum agent_trouble trouble;
	char *problem; /* for status; NULL for none */
	bool to_stop; /* counted in agent->to_stop */
};

#endif
