// SPDX-License-Identifier: MIT
/* The schema of all rows, with what is repeated said once. */
#include "config/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a part below which a reference would be no shorter. */
#define WORTH_SHARING 300

struct sharing {
	json_t *counts; /* text of a part -> how often it was met */
	json_t *names; /* text of a part that is shared -> its name */
	json_t *definitions;
};

/* A part without what differs from place to place. */
static json_t *bare(const json_t *part)
{
	json_t *copy = json_copy((json_t *)part);

	(void)json_object_del(copy, "description");
	(void)json_object_del(copy, "default");
	return copy;
}

/* The text of a part that could be shared, NULL for others. free(). */
static char *text_of(const json_t *part)
{
	json_t *copy;
	char *text;

	/* Under `properties` these are keys of ours, and what stands behind them is an object. */
	if (json_object_get(part, "type") == NULL && json_object_get(part, "anyOf") == NULL)
		return NULL;
	if (json_is_object(json_object_get(part, "type")) ||
		json_is_object(json_object_get(part, "anyOf")))
		return NULL;
	copy = bare(part);
	text = json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(copy);
	if (text != NULL && strlen(text) < WORTH_SHARING) {
		free(text);
		text = NULL;
	}
	return text;
}

static void count_parts(struct sharing *sharing, const json_t *part)
{
	char *text = text_of(part);
	const char *key;
	json_t *value;
	size_t index;

	if (text != NULL)
		(void)json_object_set_new(sharing->counts, text,
			json_integer(
				json_integer_value(json_object_get(sharing->counts, text)) + 1));
	free(text);
	json_object_foreach ((json_t *)part, key, value)
		count_parts(sharing, value);
	json_array_foreach (part, index, value)
		count_parts(sharing, value);
}

static json_t *share(struct sharing *sharing, const char *key, const json_t *part);

/* Words of the schema language that say nothing of what stands under them. */
static bool is_keyword(const char *key)
{
	static const char *const words[] = {"anyOf", "items", "properties", "additionalProperties"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(words[i], key) == 0)
			return true;
	}
	return false;
}

static json_t *share_inside(struct sharing *sharing, const char *name, const json_t *part)
{
	json_t *copy = json_is_array(part) ? json_array() : json_object();
	const char *key;
	json_t *value;
	size_t index;

	if (!json_is_object(part) && !json_is_array(part)) {
		json_decref(copy);
		return json_deep_copy(part);
	}
	json_object_foreach ((json_t *)part, key, value)
		(void)json_object_set_new(
			copy, key, share(sharing, is_keyword(key) ? name : key, value));
	json_array_foreach (part, index, value)
		(void)json_array_append_new(copy, share(sharing, name, value));
	return copy;
}

/* The definition of a shared part, made at its first place and named by the key there. */
static const char *define(
	struct sharing *sharing, const char *text, const char *key, const json_t *part)
{
	char name[80];
	json_t *copy;

	if (json_object_get(sharing->names, text) == NULL) {
		(void)snprintf(name, sizeof(name), "%.60s", key);
		for (int i = 2; json_object_get(sharing->definitions, name) != NULL; i++)
			(void)snprintf(name, sizeof(name), "%.60s-%d", key, i);
		(void)json_object_set_new(sharing->names, text, json_string(name));
		/* Its place is taken before its own parts ask for names. */
		(void)json_object_set_new(sharing->definitions, name, json_null());
		copy = bare(part);
		(void)json_object_set_new(
			sharing->definitions, name, share_inside(sharing, key, copy));
		json_decref(copy);
	}
	return json_string_value(json_object_get(sharing->names, text));
}

/* A copy of a part, with references in place of what stands elsewhere as well. */
static json_t *share(struct sharing *sharing, const char *key, const json_t *part)
{
	char *text = text_of(part);
	json_t *copy, *rest;

	if (text == NULL || json_integer_value(json_object_get(sharing->counts, text)) < 2) {
		free(text);
		return share_inside(sharing, key, part);
	}
	copy = json_pack("{s:[{s:o}]}", "allOf", "$ref",
		json_sprintf("#/definitions/%s", define(sharing, text, key, part)));
	free(text);
	/* Beside $ref itself draft 7 would ignore them. */
	rest = json_object_get(part, "description");
	(void)json_object_set(copy, "description", rest);
	rest = json_object_get(part, "default");
	(void)json_object_set(copy, "default", rest);
	return copy;
}

json_t *schema_document(const struct conf_field *fields, const char *title)
{
	struct sharing sharing = {
		.counts = json_object(), .names = json_object(), .definitions = json_object()};
	json_t *rows = field_schema(fields), *shared;
	json_t *document = json_pack(
		"{s:s, s:s}", "$schema", "http://json-schema.org/draft-07/schema#", "title", title);

	count_parts(&sharing, rows);
	shared = share_inside(&sharing, "file", rows);
	(void)json_object_update(document, shared);
	(void)json_object_set(document, "definitions", sharing.definitions);
	json_decref(shared);
	json_decref(rows);
	json_decref(sharing.counts);
	json_decref(sharing.names);
	json_decref(sharing.definitions);
	return document;
}
