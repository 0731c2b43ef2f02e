/* SPDX-License-Identifier: MIT */
/* config/yaml.h: libyaml events turned into a tree that remembers where everything stood. */
#ifndef CONFIG_YAML_H
#define CONFIG_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "config/arena.h"
#include "config/diag.h"

/* Budgets. A configuration of 10,000 checks is about 800 KB and 200,000 nodes. */
#define CONF_MAX_BYTES ((size_t)1024 * 1024) /* of one file */
#define CONF_MAX_DEPTH 32
#define CONF_MAX_NODES 500000 /* written in the file, and again reached through aliases */

enum conf_node_type {
	CONF_SCALAR,
	CONF_SEQUENCE,
	CONF_MAPPING,
};

struct conf_entry;

/* All of it lives in the arena of the load. An alias is the node it names, marked where it is used.
 */
struct conf_node {
	enum conf_node_type type;
	struct conf_mark mark;
	const char *text; /* scalar: terminated; a NUL byte inside is refused at load */
	size_t length;
	bool plain; /* scalar: not quoted, so that an empty one or ~ means "nothing" */
	struct conf_node **items; /* sequence */
	struct conf_entry *entries; /* mapping, in the order of the file, `<<` already merged */
	size_t count; /* of items or entries */
};

struct conf_entry {
	struct conf_node *key; /* always a scalar */
	struct conf_node *value;
	bool merged; /* came through `<<`; an explicit key overrides it without complaint */
};

/*
 * Parses one document from memory. Problems go to diag with `file` in their
 * marks; file must outlive the tree. An empty document is an empty mapping.
 * Several documents and anything past the budgets are errors that leave no tree:
 * NULL. Duplicate keys and tags other than the core ones leave one, so that a
 * user hears of all mistakes in one go: the caller asks diag_errors() in the end.
 */
struct conf_node *node_parse(struct arena *arena, const char *file, const char *bytes,
	size_t length, struct conf_diag *diag);

/* Reads a whole file of at most CONF_MAX_BYTES and parses it. */
struct conf_node *node_load(struct arena *arena, const char *file, struct conf_diag *diag);

/* The value under key in a mapping, or NULL. */
struct conf_node *node_get(const struct conf_node *mapping, const char *key);

/* The mark of key's value, or of the mapping itself where the key is absent. */
struct conf_mark node_mark(const struct conf_node *mapping, const char *key);

#endif
