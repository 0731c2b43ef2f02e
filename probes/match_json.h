/* SPDX-License-Identifier: MIT */
/* probes/match_json.h: assertions on a JSON document, by JSON pointers. */
#ifndef PROBES_MATCH_JSON_H
#define PROBES_MATCH_JSON_H

#include <jansson.h>

#include "config/field.h"
#include "probes/limits.h"
#include "probes/match.h"
#include "probes/measures.h"
#include "probes/outcome.h"

struct trace;

/*
 * A value to compare with. What JSON reads as a number, true, false or null is that, where
 * it is written without quotes; everything else is text: ok, "5", 007.
 */
struct json_scalar {
	const json_t *value; /* NULL: not given */
	const char *shown; /* as messages may show it */
};

/*
 * A scalar typed so, of any row. A new reference; NULL, reported, where it cannot be read.
 * *ret_shown is what messages may show where that differs, else NULL; in the arena.
 */
json_t *json_read_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, const char **ret_shown);

/* What one pointer leads to must be like. */
struct json_assertion {
	const char *name; /* RFC 6901: "" is the whole document, /db/lag, /nodes/0 */
	struct json_scalar equals, not_equals, min, max, exists;
	const struct match *match, *reject; /* of a text */
	struct limit_range warning, critical;

	/* Derived. */
	const char *const *steps; /* the pointer's parts, NULL-terminated */
};

/* A row: a map from pointers to assertions; a bare scalar is what the value must equal. */
extern const struct conf_field json_fields[];
bool json_check(void *conf, const struct conf_node *node, struct conf_load *load);
#define MATCH_JSON(T, member, ...)                                                                 \
	CONF_NAMED(T, member, json_assertion, json_fields, .shorthand = "equals",                  \
		.check = json_check, __VA_ARGS__)

struct json_verdict {
	enum probe_status status; /* passing: all assertions hold */
	enum probe_reason reason;
	char *text; /* what does not hold, NULL where all does; free() */
	struct measures values; /* numbers that have limits, by their pointers; measures_clear() */
};

/* Judges a whole document; trace (may be NULL) hears what each assertion saw. Pure. */
struct json_verdict match_json(
	const struct conf_items *assertions, const char *bytes, size_t length, struct trace *trace);

#endif
