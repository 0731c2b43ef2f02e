/* SPDX-License-Identifier: MIT */
/* runner/settings_parts.h: one file of a configuration, before it joins the others; private. */
#ifndef RUNNER_SETTINGS_PARTS_H
#define RUNNER_SETTINGS_PARTS_H

#include "runner/settings.h"

/* A file as its rows see it. */
struct root_conf {
	struct consul_conf consul;
	struct resolve_conf resolver;
	struct service_conf *service;
	struct conf_items services; /* of struct service_conf */
	bool defaults;
	struct conf_items probes, checks; /* of struct check_conf */
};

/* All of it lives in the arena of the load; pointers lead into root. */
struct settings_part {
	const char *path;
	const struct conf_node *tree; /* NULL where it could not be parsed */
	struct root_conf *root;
	bool good; /* no error so far */
	struct service_conf **services;
	size_t service_count;
	struct check_conf **checks; /* each with its service, and what is derived */
	size_t check_count;
};

/* The shared probes of a file. */
static inline struct check_conf *settings_part_probes(
	const struct settings_part *part, size_t *ret_count)
{
	*ret_count = part->good ? part->root->probes.count : 0;
	return part->good ? part->root->probes.items : NULL;
}

/* Reads one file, whole. Problems go to diag; part->good says whether one was an error. */
void settings_part_load(struct arena *arena, const char *path, struct conf_diag *diag,
	struct settings_part *ret_part);

/* True if the file has the key at its top level, whatever stands under it. */
bool settings_part_has(const struct settings_part *part, const char *key);

/* NULL where the settings have none of that id. */
struct service_conf *settings_find_service(const struct settings *settings, const char *id);

/*
 * Adds what a good file says. The arrays of the settings have room for all files: their
 * elements never move.
 */
void settings_join(struct settings *settings, const struct settings_part *part);

/*
 * Finds for each composed check of the good parts what it is made of. A file that names
 * a probe that none has, one twice, or itself is bad from then on, which is reported.
 */
void settings_link_parts(struct settings *settings, struct settings_part *parts, size_t count,
	struct conf_diag *diag);

/* The shared probes that a check of the settings needs, behind the join. */
void settings_link_probes(struct settings *settings, const struct settings_part *parts,
	size_t count, struct conf_diag *diag);

/*
 * The paths of all *.yaml of a folder, in byte order, in the arena; dot files are not
 * looked at. 0, reported, where there are none or far too many.
 */
size_t settings_list_folder(
	struct arena *arena, const char *folder, struct conf_diag *diag, char ***ret_paths);

/* As root, whoever can write a path runs commands as root: an error, else a warning. */
bool settings_path_is_safe(const char *path, struct conf_diag *diag);

#endif
