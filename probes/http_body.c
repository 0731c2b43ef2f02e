// SPDX-License-Identifier: MIT
/* Bodies of requests that are JSON: made at load. */
#include "probes/http_body.h"

#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/match_json.h"

/* A value as it is sent, and as it may be shown. */
struct pair {
	json_t *real, *shown;
};

static struct pair read_node(
	struct conf_load *load, const struct conf_field *field, const struct conf_node *node);

static struct pair read_sequence(
	struct conf_load *load, const struct conf_field *field, const struct conf_node *node)
{
	struct pair list = {json_array(), json_array()};

	for (size_t i = 0; i < node->count; i++) {
		struct pair item = read_node(load, field, node->items[i]);

		(void)json_array_append_new(list.real, item.real);
		(void)json_array_append_new(list.shown, item.shown);
	}
	return list;
}

static struct pair read_mapping(
	struct conf_load *load, const struct conf_field *field, const struct conf_node *node)
{
	struct pair map = {json_object(), json_object()};

	for (size_t i = 0; i < node->count; i++) {
		const struct conf_entry *entry = &node->entries[i];
		struct pair value = read_node(load, field, entry->value);

		(void)json_object_set_new(map.real, entry->key->text, value.real);
		(void)json_object_set_new(map.shown, entry->key->text, value.shown);
	}
	return map;
}

/* The depth is bounded by the loader's budget; a problem is reported, and leaves a NULL. */
static struct pair read_node(
	struct conf_load *load, const struct conf_field *field, const struct conf_node *node)
{
	const char *shown = NULL;
	struct pair scalar;

	if (node->type == CONF_SEQUENCE)
		return read_sequence(load, field, node);
	if (node->type == CONF_MAPPING)
		return read_mapping(load, field, node);
	if (field_is_nothing(node))
		return (struct pair){json_null(), json_null()};
	scalar.real = json_read_scalar(load, field, node, &shown);
	scalar.shown = shown == NULL ? json_incref(scalar.real) : json_string(shown);
	return scalar;
}

/* As text in the arena; takes the value. */
static const char *dump(struct conf_load *load, json_t *take_value)
{
	char *text = json_dumps(take_value, JSON_COMPACT);
	const char *kept = text == NULL ? NULL : arena_strdup(load->arena, text);

	free(text);
	json_decref(take_value);
	return kept;
}

static bool parse_json(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct http_json *json = member;
	size_t errors = diag_errors(load->diag);
	struct pair value;

	if (node->type == CONF_SCALAR)
		return conf_error(load, node,
			"'%s' is a map or a list; a body that is text already goes into 'body'",
			field->key);
	value = read_node(load, field, node);
	json->text = dump(load, value.real);
	json->shown = dump(load, value.shown);
	return diag_errors(load->diag) == errors;
}

static void print_json(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct http_json *json = member;

	(void)field;
	/* JSON is YAML. */
	(void)fputs(json->text == NULL ? "null" : json->shown, stream);
}

static bool equal_json(const struct conf_field *field, const void *a, const void *b)
{
	const struct http_json *left = a, *right = b;

	(void)field;
	if (left->text == NULL || right->text == NULL)
		return left->text == right->text;
	return strcmp(left->text, right->text) == 0;
}

static json_t *json_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:[s, s]}", "type", "object", "array");
}

const struct conf_kind http_json = {
	.name = "a map or a list",
	.size = sizeof(struct http_json),
	.parse = parse_json,
	.print = print_json,
	.equal = equal_json,
	.schema = json_schema,
};
