/* SPDX-License-Identifier: MIT */
/* runner/settings.h: the whole configuration as structs, and the rules between its parts. */
#ifndef RUNNER_SETTINGS_H
#define RUNNER_SETTINGS_H

#include <stdbool.h>

#include "config/field.h"
#include "probes/outcome.h"
#include "probes/probe.h"
#include "probes/resolve.h"

enum consul_transport {
	CONSUL_HTTP,
	CONSUL_UNIX,
};

/* Where the agent listens; `off` means standalone. */
struct consul_address {
	bool off;
	enum consul_transport transport;
	const char *base; /* "http://host:port", no slash at the end; "http://localhost" for unix */
	const char *host; /* for the Host header and messages */
	struct conf_address endpoint;
};

struct consul_conf {
	struct consul_address address;
	const char *token_file; /* NULL: none */
	double timeout; /* s, of one call */
};

struct weights_conf {
	unsigned int passing, warning;
};

/* A service that probity itself registers. */
struct register_conf {
	const char *name;
	const char *address; /* NULL: the node's */
	unsigned int port; /* 0: none */
	struct conf_strings tags;
	struct conf_pairs meta;
	struct weights_conf weights;
};

enum on_stop {
	ON_STOP_LEAVE,
	ON_STOP_CRITICAL,
};

struct service_conf {
	const char *id; /* NULL: the file has node checks only */
	struct register_conf *registration; /* key `register`; NULL: somebody else registers it */
	const char *unit;
	int on_stop; /* enum on_stop */
};

struct latency_conf { /* s; 0 means no limit */
	double note, warning, critical;
};

struct check_conf {
	const char *name;
	const char *id; /* always set after the load: "<service id>:<name>" or "probity:<name>" */
	const char *notes; /* for people; NULL if none */
	bool node;
	struct conf_choice_of probe;
	double interval;
	double retry_interval; /* always set after the load */
	double timeout; /* always set after the load */
	double ttl;
	unsigned int success_before_passing;
	unsigned int failures_before_warning; /* always set after the load */
	unsigned int failures_before_critical;
	int max_status; /* enum probe_status */
	struct latency_conf max_latency;

	/* Derived. */
	const struct probe_type *type;
	const struct service_conf *service; /* NULL for a node check */
	const char *target; /* what is probed, for people, without secrets */
	double kill_grace; /* of a script, 0 elsewhere: part of how long a result is fresh */
	struct conf_mark mark;
};

struct settings {
	struct arena *arena; /* owns all of it */
	unsigned int references;
	const void *root; /* what settings_fields filled */
	const char *path;
	const char *instance; /* for the mark in Notes: see settings_instance() */
	struct consul_conf consul;
	struct resolve_conf resolver;
	struct service_conf *services;
	size_t service_count;
	struct check_conf *checks;
	size_t check_count;
};

/*
 * Loads a file. All problems go to diag; NULL if one was an error. The caller
 * holds the one reference to what it gets. Marks in diag point into the settings or,
 * after an error, into path: print them while these live.
 */
struct settings *settings_load(const char *path, struct conf_diag *diag);

/* One more reference, for a run that outlives a reload. Returns settings. */
struct settings *settings_share(struct settings *settings);

/* Drops one reference; the last one frees everything. Accepts NULL. */
void settings_destroy(struct settings *settings);

/* What is in force, as YAML, with defaults and what was derived; secrets print as ***. */
void settings_print(const struct settings *settings, FILE *stream);

/* True if b asks for the same probe, run the same way: counters and phase may be kept. */
bool settings_same_check(const struct check_conf *a, const struct check_conf *b);

/* Seconds that a result of this check stays fresh: see design of "Publishing" in the README. */
double settings_fresh_for(const struct check_conf *check);

/*
 * "web" for /etc/probity/web.yaml, "conf.d" for /etc/probity/conf.d, else the
 * canonical path: two instances on one agent must never share a mark, since each
 * would deregister the other's checks. In arena.
 */
const char *settings_instance(struct arena *arena, const char *path);

/* The top-level rows, for the lint, the reference and the schema. */
extern const struct conf_field settings_fields[];

#endif
