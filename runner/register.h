/* SPDX-License-Identifier: MIT */
/* runner/register.h: what to register, when and with which status. Pure. */
#ifndef RUNNER_REGISTER_H
#define RUNNER_REGISTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "runner/publish.h"
#include "runner/settings.h"

/* What the agent has under the id of one of our checks. */
enum register_presence {
	PRESENCE_UNKNOWN, /* not looked yet */
	PRESENCE_ABSENT,
	PRESENCE_OURS, /* a TTL check that ends its Notes with our mark */
	PRESENCE_CLASH, /* anything else */
};

struct register_facts {
	enum register_presence presence;
	bool definition_sent; /* what the agent has is what we would register */
	bool service_there; /* the service is on the agent; true for a node check */
	bool bare; /* ... and has no check at all, so it counts as passing */
	double not_before; /* monotonic: the floor after a refusal */
	enum probe_status status; /* of the claim */
	struct publish_step claim; /* what publish wants */
};

enum register_call {
	REGISTER_NOTHING, /* until an event */
	REGISTER_CHECK, /* check/register */
	REGISTER_UPDATE, /* check/update */
};

struct register_plan {
	enum register_call call;
	double at; /* monotonic */
	bool urgent; /* before heartbeats */
	enum probe_status status; /* to register with */
};

/*
 * The next call for a check. A registration renews the TTL, so one that is on the agent
 * is registered again only when a claim is due and follows at once.
 */
struct register_plan register_next(const struct register_facts *facts);

/* True if Notes end with "[probity:<instance>]". notes may be NULL. */
bool register_is_marked(const char *notes, const char *instance);

/* What an answer of agent/checks says of one check. */
enum register_presence register_look(const json_t *checks, const char *id, const char *instance);

/* The type of a check in that answer, for messages; "" if it is not there. Borrowed. */
const char *register_type(const json_t *checks, const char *id);

/* s of critical after which the agent is told to remove the check's service; 0: never. */
double register_reaps_after(const struct check_conf *check);

/* Bodies. The caller owns them. */
json_t *register_check_body(
	const struct check_conf *check, const char *instance, enum probe_status status);

/* The service without checks; register_add_check() adds one, with its status. */
json_t *register_service_body(const struct service_conf *service);
void register_add_check(json_t *service_body, const struct check_conf *check, const char *instance,
	enum probe_status status);

/* True if what agent/service/ID answered is not what register_service_body() would make. */
bool register_service_differs(const struct service_conf *service, const json_t *answer);

/* True if the agent would be told the same of both checks. */
bool register_same_definition(const struct check_conf *a, const struct check_conf *b);

#endif
