/* SPDX-License-Identifier: MIT */
/* runner/agent.h: the local Consul agent: makes it say what the runner claims. */
#ifndef RUNNER_AGENT_H
#define RUNNER_AGENT_H

#include <ev.h>
#include <stdbool.h>

#include "runner/settings.h"
#include "runner/watchdog.h"

struct agent;
struct agent_check;

/* What the runner wants the agent to say of a check. */
struct claim {
	enum probe_status status;
	const char *output; /* valid UTF-8, at most OUTPUT_MAX bytes; copied */
	double fresh_until; /* CLOCK_BOOTTIME; no heartbeat repeats the claim after it */
};

/*
 * With consul.address.off the agent takes claims and calls nobody. settings is
 * borrowed until agent_reload or agent_destroy.
 */
struct agent *agent_create(struct ev_loop *loop, const struct settings *settings);
void agent_destroy(struct agent *agent); /* accepts NULL; sends nothing */

/*
 * Makes the agent follow a new configuration. Checks that stay keep their handles,
 * claims and acknowledgements; one that left is deregistered and its handle is dead.
 */
void agent_reload(struct agent *agent, const struct settings *settings);

/* The handle for a check of the current settings, by id; never NULL for one of them. */
struct agent_check *agent_find(struct agent *agent, const char *check_id);

/*
 * The newest claim, which replaces an unsent one. The first makes the check known to
 * the agent (a check of a service without any check on the agent is registered
 * critical before that). A changed status goes at once, a changed output with the
 * next heartbeat or within 10 s, an unchanged claim is repeated every ttl/3.
 */
void agent_publish(struct agent_check *check, const struct claim *claim);

/*
 * What the previous process last published (state file): the agent's own claim
 * stands, nothing is sent for it until the first agent_publish.
 */
void agent_adopt(struct agent_check *check, enum probe_status status);

/* After a stall: nothing is sent for the check until the next agent_publish. */
void agent_hold(struct agent_check *check);

/*
 * Shutdown. Sends unacknowledged claims that are not passing, and does what the
 * services say in on_stop; nothing else, no heartbeat. What systemd is asked for
 * meanwhile takes at most 1 s of it.
 * done is called when all is sent or `seconds` are over.
 */
void agent_stop(struct agent *agent, double seconds, void (*done)(void *owner), void *owner);

/* For status. Times are CLOCK_BOOTTIME, 0 for never. Strings are borrowed, NULL for none. */
struct agent_check_view {
	bool registered; /* known to be on the agent */
	bool acknowledged; /* the newest claim was */
	bool ever_acknowledged;
	enum probe_status acknowledged_status;
	double acknowledged_at;
	double next_heartbeat_at;
	const char *problem; /* "403 Permission denied", "unknown service web-1", ... */
};
void agent_check_view(const struct agent_check *check, struct agent_check_view *ret_view);

struct agent_view {
	bool off;
	bool reachable; /* false while the gate is closed */
	double changed_at; /* when reachable last changed */
	const char *address;
	const char *problem;
	const char *read_back; /* why the catalog is not read back; NULL: it is */
	unsigned long calls, failures;
};
void agent_view(const struct agent *agent, struct agent_view *ret_view);

/* Notes when the oldest call under way is over, answered or given up, at the latest. */
void agent_watch(const struct agent *agent, struct watchdog *watchdog);

#endif
