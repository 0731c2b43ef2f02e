/* SPDX-License-Identifier: MIT */
/* config/field.h: one row per key, and the walker that reads, compares and prints by rows. */
#ifndef CONFIG_FIELD_H
#define CONFIG_FIELD_H

#include "config/kind.h"
#include "config/rows.h"

enum conf_flag {
	CONF_REQUIRED = 1 << 0,
	CONF_VERBATIM = 1 << 1, /* ${NAME} is not expanded (command, shell) */
	CONF_INHERIT = 1 << 2, /* may stand in `defaults:` */
	CONF_EMPTY = 1 << 3, /* a list without elements is a value, not a mistake */
};

struct conf_field {
	const char *key;
	const char *help; /* one sentence, no trailing stop */
	const char *fallback; /* default as YAML text, NULL if none */
	const struct conf_kind *kind; /* parse, print, compare, schema */
	const char *const *choices; /* conf_choice: NULL-terminated */
	const struct conf_field *fields; /* conf_map, conf_list, conf_named: rows of one of them */
	const struct conf_variant *const *variants; /* conf_oneof: NULL-terminated */
	size_t offset; /* of the member in the struct that the rows fill */
	size_t size; /* conf_map, conf_list, conf_named: of the struct or one element */
	unsigned int flags; /* enum conf_flag */
	double min, max; /* numbers, durations, sizes; a max of 0: no upper limit */
	const char *shorthand; /* conf_map and conf_list elements: the key that a bare scalar or
				  list fills */
	/* conf_map and conf_list: rules between the keys of one map; see conf_variant.check. */
	bool (*check)(void *conf, const struct conf_node *node, struct conf_load *load);
};

/* One alternative among maps told apart by their key (http:, tcp:, ...). */
struct conf_variant {
	const char *name; /* the key */
	const char *summary; /* one line for the reference */
	const struct conf_field *fields; /* ends with a row of zeroes */
	size_t size; /* of the struct that the fields fill */
	const char *shorthand; /* the key that a bare scalar or list fills, or NULL */
	const char *example; /* a whole file that uses it, YAML; for the reference */

	/*
	 * Optional: rules that span fields, and what is derived from them. Reports
	 * through conf_error() and returns false on an error. node is the mapping as
	 * written (a scalar or list where the short form was used).
	 */
	bool (*check)(void *conf, const struct conf_node *node, struct conf_load *load);
};

/*
 * Fills conf, which is zeroed, from a mapping by its rows: values, defaults,
 * required and unknown keys, ranges. `inherit` (may be NULL) is a mapping that
 * answers for absent keys of rows that say CONF_INHERIT. All problems are
 * reported; false if one was an error.
 */
bool field_load(struct conf_load *load, const struct conf_field *fields,
	const struct conf_node *node, const struct conf_node *inherit, void *conf);

/* Loads one variant, in long or short form, with its check. */
bool variant_load(struct conf_load *load, const struct conf_variant *variant,
	const struct conf_node *node, void *conf);

bool field_equal(const struct conf_field *fields, const void *a, const void *b);
void field_print(const struct conf_field *fields, const void *conf, int indent, FILE *stream);

/* The same as an element of a list, behind "- ". */
void field_print_item(const struct conf_field *fields, const void *conf, int indent, FILE *stream);
json_t *field_schema(const struct conf_field *fields);

#endif
