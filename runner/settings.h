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

struct id_lock;

struct settings_file {
	const char *path;
	const void *root; /* what settings_fields filled; NULL where it could not be parsed */
	const char *problem; /* why it is left out; NULL: it is in force */
};

struct settings {
	struct arena *arena; /* owns all of it */
	unsigned int references;
	const char *path;
	bool folder; /* path is one */
	struct settings_file *files; /* one, or those of the folder, in byte order */
	size_t file_count, left_out;
	const char *instance; /* for the mark in Notes: see settings_instance() */
	struct consul_conf consul;
	struct resolve_conf resolver;
	struct service_conf *services;
	size_t service_count;
	struct check_conf *checks;
	size_t check_count;
	struct check_conf *probes; /* those that checks are made of; each is shared */
	size_t probe_count;
};

/* Which bad files of a folder may be left out, and what is bad besides. */
struct settings_policy {
	/* Who else publishes the check of an id, in words; NULL: nobody. May be NULL. */
	const char *(*holder)(const struct id_lock *ids, const char *check_id);
	const struct id_lock *ids;

	/* NULL: any. Else only those that were left out of these settings already. */
	const struct settings *before;
};

/*
 * Loads a file, or all *.yaml of a folder. All problems go to diag. Bad files of a
 * folder are left out as policy allows (NULL: none is); NULL if another one is bad, one that
 * speaks for all (consul, resolver), or if nothing is left. The caller holds the one
 * reference to what it gets.
 */
struct settings *settings_load(
	const char *path, const struct settings_policy *policy, struct conf_diag *diag);

/* The index-th file that was left out, NULL past the last. */
static inline const struct settings_file *settings_left_out(
	const struct settings *settings, size_t index)
{
	for (size_t i = 0; i < settings->file_count; i++) {
		if (settings->files[i].problem != NULL && index-- == 0)
			return &settings->files[i];
	}
	return NULL;
}

/* Checks and, behind them, shared probes: all that has a life at run time. */
size_t settings_count(const struct settings *settings);
const struct check_conf *settings_at(const struct settings *settings, size_t index);

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
