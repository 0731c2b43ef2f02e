/* SPDX-License-Identifier: MIT */
/* config/rows.h: the kinds that are there, and a macro for a row of each. */
#ifndef CONFIG_ROWS_H
#define CONFIG_ROWS_H

#include <limits.h>

#include "config/kind.h"

extern const struct conf_kind conf_string; /* const char *; NULL if absent, without a default */
extern const struct conf_kind conf_path; /* const char *; absolute, no dot segments */
extern const struct conf_kind conf_bool; /* bool; true or false, nothing else */
extern const struct conf_kind conf_count; /* unsigned int; decimal, no leading zero */
extern const struct conf_kind conf_integer; /* int; CONF_NO_INTEGER if absent, without a default */
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
	conf_named; /* struct conf_items; names are the user's, structs begin with one */
extern const struct conf_kind
	conf_oneof; /* struct conf_choice_of; exactly one, keys stand in the outer map */

#define CONF_NO_INTEGER INT_MIN

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
#define CONF_INTEGER(T, member, ...) CONF_ROW(T, member, int, conf_integer, __VA_ARGS__)
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
/* S begins with `const char *name`, which holds the key. */
#define CONF_NAMED(T, member, S, rows, ...)                                                        \
	CONF_ROW(T, member, struct conf_items, conf_named, .fields = (rows),                       \
		.size = sizeof(struct S) + 0 * sizeof(struct {                                     \
			_Static_assert(CONF_AT(struct S, name, const char *) == 0,                 \
				#S " does not begin with its name");                               \
			int unused;                                                                \
		}),                                                                                \
		__VA_ARGS__)
#define CONF_ONEOF(T, member, ...)                                                                 \
	CONF_ROW(T, member, struct conf_choice_of, conf_oneof, __VA_ARGS__)

#endif
