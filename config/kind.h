/* SPDX-License-Identifier: MIT */
/* config/kind.h: what a kind of value is, and what those who write one may call. */
#ifndef CONFIG_KIND_H
#define CONFIG_KIND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "config/values.h"
#include "config/yaml.h"

struct conf_field;
struct conf_load;
struct field_walk;

/* A value kind. New kinds join by being named in a row; the walker knows none of them. */
struct conf_kind {
	const char *name; /* as messages call it, and the reference: "a duration" */
	const char *title; /* as the reference calls it, where that differs; else NULL */
	size_t size; /* of the member; 0: field->size says */

	/* Fills the member, which is zeroed. Reports and returns false on bad input. */
	bool (*parse)(struct conf_load *load, const struct conf_field *field,
		const struct conf_node *node, void *member);

	/* Appends the value as one line of YAML flow text; secrets print as ***. */
	void (*print)(const struct conf_field *field, const void *member, FILE *stream);

	bool (*equal)(const struct conf_field *field, const void *a, const void *b);

	/* JSON Schema of what parse accepts; the caller owns it. */
	json_t *(*schema)(const struct conf_field *field);

	/* Optional: what an absent key without a default means; node is the map that lacks it. */
	bool (*absent)(struct conf_load *load, const struct conf_field *field,
		const struct conf_node *node, void *member);

	/* Optional: the value as an indented block, for what one line cannot show well. */
	void (*print_block)(
		const struct conf_field *field, const void *member, int indent, FILE *stream);
};

/* What one load needs. The caller fills it and owns it; nothing in it is freed by the walker. */
struct conf_load {
	struct arena *arena;
	struct conf_diag *diag;
	const char *(*getenv)(const char *name); /* for ${NAME} */
	void *user; /* for the check functions of the caller's own rows */

	/* The walker's own; zero. */
	const struct field_walk *walk; /* the map being read */
	size_t expanded; /* bytes that came from ${NAME} so far */
};

/* The scalar's text with ${NAME} expanded; false (reported) if it is not a scalar or is nothing. */
struct conf_text {
	const char *text; /* what counts */
	const char *shown; /* what messages may say: expanded parts are *** */
};
bool field_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct conf_text *ret_text);

/* The map whose keys are being read: the one around the value that a kind parses. */
const struct conf_node *field_map(const struct conf_load *load);

/* True for a value that was left out behind its key: `key:` or `key: ~`. */
bool field_is_nothing(const struct conf_node *node);

/*
 * What may be shown of a text that field_scalar() gave out: the text itself, or its
 * shown form where some of it came from ${NAME}. Known by its address, so a copy
 * of the text does not count; valid while the load's arena is.
 */
const char *field_shown(const char *text);

/* A text as a YAML scalar that reads back as the same string; quoted where it must be. */
void field_print_text(const char *text, FILE *stream);

/* Reports an error (a warning) at a node; conf_error returns false, for `return conf_error(...)`.
 */
bool conf_error(struct conf_load *load, const struct conf_node *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool conf_error_at(struct conf_load *load, struct conf_mark mark, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void conf_warn_at(struct conf_load *load, struct conf_mark mark, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
