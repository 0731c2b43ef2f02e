/* SPDX-License-Identifier: MIT */
/* runner/settings.h: the whole configuration as structs, and the rules between its parts. */
#ifndef RUNNER_SETTINGS_H
#define RUNNER_SETTINGS_H

#include <stdbool.h>

#include "config/field.h"
#include "probes/outcome.h"
#include "probes/probe.h"
#include "probes/resolve.h"
#include "runner/settings_conf.h"

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
