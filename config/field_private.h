/* SPDX-License-Identifier: MIT */
/* config/field_private.h: what the walker and the kinds that hold rows share. */
#ifndef CONFIG_FIELD_PRIVATE_H
#define CONFIG_FIELD_PRIVATE_H

#include "config/field.h"

/* One call of the walker. */
struct field_walk {
	const struct conf_field *fields;
	const struct conf_node *node; /* a mapping */
	const struct conf_node *inherit; /* or NULL */
	const char *name; /* for messages: "in the <name> <noun>"; NULL at the top */
	const char *noun;
	bool lenient; /* an absent map: its required keys are not missed */
	const struct field_walk *outer; /* the map around this one; set by field_walk() */
};
bool field_walk(struct conf_load *load, struct field_walk *walk, void *conf);

/* A mapping of no entries, or of one, marked where `at` stands. In the arena. */
const struct conf_node *field_empty_map(struct conf_load *load, const struct conf_node *at);
const struct conf_node *field_map_of(
	struct conf_load *load, const char *key, const struct conf_node *value);

/*
 * What a map's rows read: node itself, or the map that its short form stands for. Nothing
 * (`key:`) is an empty map. NULL, reported, where it is neither.
 */
const struct conf_node *field_long_form(struct conf_load *load, const struct conf_node *node,
	const struct conf_field *fields, const char *shorthand, const char *name);

/* variant_load() with the word for what the variant is: "probe". */
bool field_load_variant(struct conf_load *load, const struct conf_variant *variant,
	const char *noun, const struct conf_node *node, void *conf);

/* Schema of a map that may also be given as its shorthand key's value. Takes over schema. */
json_t *field_or_shorthand(
	json_t *take_schema, const struct conf_field *fields, const char *shorthand);

/* Schema of text: YAML readers see numbers and booleans where a string is meant. */
json_t *field_text_schema(void);

/* Schema of a value that may be left out behind its key. Takes over schema. */
json_t *field_or_nothing(json_t *take_schema);

/* Schema of a value that may also come from ${NAME}. Takes over schema. */
json_t *field_or_variable(json_t *take_schema);

/* Prints rows as one flow map; as an item of a block list, "- " at indent. */
void field_print_flow(const struct conf_field *fields, const void *conf, FILE *stream);

/* From now on field_shown(text) is shown, until the arena is destroyed. Both are the arena's. */
void field_hide(struct arena *arena, const char *text, const char *shown);

/* What may be shown of a text, so that the row's own kind reads it back. */
void field_print_string(const struct conf_field *field, const char *text, FILE *stream);

/* "a, b or c", in the arena. next(words, i) is the i-th word, NULL past the end. */
const char *field_join(struct conf_load *load, const void *words,
	const char *(*next)(const void *words, size_t index));

/* Whether two strings, either of which may be NULL, are the same. */
bool field_same_text(const char *a, const char *b);

static inline const void *field_member(const struct conf_field *field, const void *conf)
{
	return (const char *)conf + field->offset;
}

#endif
