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
	const char *where; /* for messages: "in a tcp probe"; "" at the top */
	bool lenient; /* an absent map: its required keys are not missed */
};
bool field_walk(struct conf_load *load, const struct field_walk *walk, void *conf);

/* A mapping of no entries, or of one, marked where `at` stands. In the arena. */
struct conf_node *field_empty_map(struct conf_load *load, const struct conf_node *at);
struct conf_node *field_map_of(struct conf_load *load, const char *key, struct conf_node *value);

/* Schema of a map that may also be given as its shorthand key's value. Takes over schema. */
json_t *field_or_shorthand(
	json_t *take_schema, const struct conf_field *fields, const char *shorthand);

/* Prints rows as one flow map. */
void field_print_flow(const struct conf_field *fields, const void *conf, FILE *stream);

/* A text as a YAML scalar that reads back as the same string; quoted where it must be. */
void field_print_text(const char *text, FILE *stream);

static inline const void *field_member(const struct conf_field *field, const void *conf)
{
	return (const char *)conf + field->offset;
}

#endif
