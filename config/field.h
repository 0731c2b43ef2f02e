/* SPDX-License-Identifier: MIT */
/* config/field.h: one row per key; the one walker that reads, compares and prints structs by rows.
 */
#ifndef CONFIG_FIELD_H
#define CONFIG_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "config/yaml.h"

struct conf_load;
struct conf_variant;

enum conf_flag {
	CONF_REQUIRED = 1 << 0,
	CONF_VERBATIM = 1 << 1, /* ${NAME} is not expanded (command, shell) */
	CONF_INHERIT = 1 << 2, /* may stand in `defaults:` */
};

struct conf_field {
	const char *key;
	const char *help; /* one sentence, no trailing stop */
	const char *fallback; /* default as YAML text, NULL if none */
	const struct conf_kind *kind; /* parse, print, compare, schema */
	const char *const *choices; /* conf_choice: NULL-terminated */
	const struct conf_field *fields; /* conf_map and conf_list: rows of the map or element */
	const struct conf_variant *const *variants; /* conf_oneof: NULL-terminated */
	size_t offset; /* of the member in the struct that the rows fill */
	size_t size; /* conf_map and conf_list: of the struct or one element */
	unsigned int flags; /* enum conf_flag */
	double min, max; /* numbers, durations, sizes; both 0: no limits */
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

	/*
	 * Optional: rules that span fields, and what is derived from them. Reports
	 * through conf_error() and returns false on an error. node is the mapping as
	 * written (a scalar or list where the short form was used).
	 */
	bool (*check)(void *conf, const struct conf_node *node, struct conf_load *load);
};

/* A value kind. New kinds join by being named in a row; the walker knows none of them. */
struct conf_kind {
	const char *name; /* as messages and the reference call it: "a duration" */
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

/* What the members hold. All memory is the arena's; every string is terminated. */

struct conf_strings { /* never NULL items: an absent list is an empty one */
	const char *const *items; /* count strings and a NULL: usable as argv */
	size_t count;
};

/* A value that no message, log or output may show. Given in the file, or read from one. */
struct conf_secret {
	const char *value; /* NULL where it comes from a file or is absent */
	const char *file; /* read again before a run when it changed; NULL if given */
	const char *prefix; /* put before the value, "" if none */
};

struct conf_pair { /* env: and headers: */
	const char *name;
	struct conf_secret value;
};

struct conf_pairs {
	const struct conf_pair *items;
	size_t count;
};

struct conf_url {
	const char *text; /* as written, after ${NAME}; NULL if absent */
	const char *shown; /* for messages: user:***@, ?..., expanded parts *** */
	const char *scheme; /* lower case */
	const char *host; /* without brackets */
	unsigned int port; /* the scheme's where none is written */
};

struct conf_address { /* host:port, [v6]:port, or unix:///path */
	const char *host; /* NULL for a unix socket; no brackets */
	const char *path; /* unix socket, else NULL */
	unsigned int port;
	const char *shown; /* for messages */
};

struct conf_choice_of { /* conf_oneof */
	const struct conf_variant *variant; /* NULL if none was given */
	void *conf; /* variant->size bytes, filled by its rows */
	struct conf_mark mark; /* of the key */
};

struct conf_items { /* conf_list: count structs of field->size bytes, one after another */
	void *items;
	size_t count;
};

extern const struct conf_kind conf_string; /* const char *; NULL if absent, without a default */
extern const struct conf_kind conf_path; /* const char *; absolute, no dot segments */
extern const struct conf_kind conf_bool; /* bool; true or false, nothing else */
extern const struct conf_kind conf_count; /* unsigned int; decimal, no leading zero */
extern const struct conf_kind conf_number; /* double; plain decimal */
extern const struct conf_kind conf_duration; /* double, seconds; needs a unit: 1m30s, 250ms */
extern const struct conf_kind conf_size; /* double, bytes; needs a unit: B, KiB, MiB, GiB */
extern const struct conf_kind conf_mode; /* unsigned int; three or four octal digits */
extern const struct conf_kind conf_choice; /* int, index into field->choices */
extern const struct conf_kind conf_list_of_strings; /* struct conf_strings */
extern const struct conf_kind conf_secret_text; /* struct conf_secret; text or {file, prefix} */
extern const struct conf_kind
	conf_map_of_secrets; /* struct conf_pairs; values as conf_secret_text */
extern const struct conf_kind conf_http_url; /* struct conf_url; http and https only */
extern const struct conf_kind conf_endpoint; /* struct conf_address */
extern const struct conf_kind conf_map; /* the struct itself, embedded; absent: its defaults */
extern const struct conf_kind conf_map_if; /* pointer to the struct; NULL if absent */
extern const struct conf_kind conf_list; /* struct conf_items */
extern const struct conf_kind
	conf_oneof; /* struct conf_choice_of; exactly one, keys stand in the outer map */

/* The offset of a member, refused by the compiler if its type is not C. */
#define CONF_AT(T, member, C)                                                                      \
	(offsetof(T, member) + 0 * sizeof(struct {                                                 \
		_Static_assert(                                                                    \
			_Generic(((T *)0)->member, C : 1, default : 0), #member " is not " #C);    \
		int unused;                                                                        \
	}))
#define CONF_ROW(T, member, C, the_kind, ...)                                                      \
	{                                                                                          \
		.key = #member, .kind = &(the_kind), .offset = CONF_AT(T, member, C), __VA_ARGS__  \
	}
/* A row's key is its member's name; `.key = "..."` behind it says where one must differ. */
#define CONF_STRING(T, member, ...) CONF_ROW(T, member, const char *, conf_string, __VA_ARGS__)
#define CONF_PATH(T, member, ...) CONF_ROW(T, member, const char *, conf_path, __VA_ARGS__)
#define CONF_BOOL(T, member, ...) CONF_ROW(T, member, bool, conf_bool, __VA_ARGS__)
#define CONF_COUNT(T, member, ...) CONF_ROW(T, member, unsigned int, conf_count, __VA_ARGS__)
#define CONF_NUMBER(T, member, ...) CONF_ROW(T, member, double, conf_number, __VA_ARGS__)
#define CONF_DURATION(T, member, ...) CONF_ROW(T, member, double, conf_duration, __VA_ARGS__)
#define CONF_SIZE(T, member, ...) CONF_ROW(T, member, double, conf_size, __VA_ARGS__)
#define CONF_MODE(T, member, ...) CONF_ROW(T, member, unsigned int, conf_mode, __VA_ARGS__)
#define CONF_CHOICE(T, member, ...) CONF_ROW(T, member, int, conf_choice, __VA_ARGS__)
#define CONF_STRINGS(T, member, ...)                                                               \
	CONF_ROW(T, member, struct conf_strings, conf_list_of_strings, __VA_ARGS__)
#define CONF_SECRET(T, member, ...)                                                                \
	CONF_ROW(T, member, struct conf_secret, conf_secret_text, __VA_ARGS__)
#define CONF_SECRETS(T, member, ...)                                                               \
	CONF_ROW(T, member, struct conf_pairs, conf_map_of_secrets, __VA_ARGS__)
#define CONF_URL(T, member, ...) CONF_ROW(T, member, struct conf_url, conf_http_url, __VA_ARGS__)
#define CONF_ADDRESS(T, member, ...)                                                               \
	CONF_ROW(T, member, struct conf_address, conf_endpoint, __VA_ARGS__)
#define CONF_MAP(T, member, S, rows, ...)                                                          \
	CONF_ROW(T, member, struct S, conf_map, .fields = (rows), .size = sizeof(struct S),        \
		__VA_ARGS__)
#define CONF_MAP_IF(T, member, S, rows, ...)                                                       \
	CONF_ROW(T, member, struct S *, conf_map_if, .fields = (rows), .size = sizeof(struct S),   \
		__VA_ARGS__)
#define CONF_LIST(T, member, S, rows, ...)                                                         \
	CONF_ROW(T, member, struct conf_items, conf_list, .fields = (rows),                        \
		.size = sizeof(struct S), __VA_ARGS__)
#define CONF_ONEOF(T, member, ...)                                                                 \
	CONF_ROW(T, member, struct conf_choice_of, conf_oneof, __VA_ARGS__)

/* What one load needs. The caller fills it and owns it; nothing in it is freed by the walker. */
struct conf_load {
	struct arena *arena;
	struct conf_diag *diag;
	const char *(*getenv)(const char *name); /* for ${NAME} */
	void *user; /* for the check functions of the caller's own rows */
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
json_t *field_schema(const struct conf_field *fields);

/* For kinds: the scalar's text with ${NAME} expanded; NULL (reported) if it is not a scalar. */
struct conf_text {
	const char *text; /* what counts */
	const char *shown; /* what messages may say: expanded parts are *** */
};
bool field_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct conf_text *ret_text);

/* Reports an error (a warning) at a node; conf_error returns false, for `return conf_error(...)`.
 */
bool conf_error(struct conf_load *load, const struct conf_node *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool conf_error_at(struct conf_load *load, struct conf_mark mark, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void conf_warn_at(struct conf_load *load, struct conf_mark mark, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
