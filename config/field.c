// SPDX-License-Identifier: MIT
/* The walker: a mapping and rows in, a filled struct out. It knows no kind. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config/field_private.h"
#include "config/suggest.h"

bool conf_error(struct conf_load *load, const struct conf_node *node, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = xvprintf(format, arguments);
	va_end(arguments);
	diag_add(load->diag, node->mark, CONF_ERROR, "%s", text);
	free(text);
	return false;
}

bool conf_error_at(struct conf_load *load, struct conf_mark mark, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = xvprintf(format, arguments);
	va_end(arguments);
	diag_add(load->diag, mark, CONF_ERROR, "%s", text);
	free(text);
	return false;
}

void conf_warn_at(struct conf_load *load, struct conf_mark mark, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = xvprintf(format, arguments);
	va_end(arguments);
	diag_add(load->diag, mark, CONF_WARNING, "%s", text);
	free(text);
}

struct conf_node *field_empty_map(struct conf_load *load, const struct conf_node *at)
{
	struct conf_node *node = arena_alloc(load->arena, sizeof(*node));

	node->type = CONF_MAPPING;
	node->mark = at->mark;
	return node;
}

struct conf_node *field_map_of(struct conf_load *load, const char *key, struct conf_node *value)
{
	struct conf_node *map = field_empty_map(load, value);
	struct conf_node *name = arena_alloc(load->arena, sizeof(*name));

	name->type = CONF_SCALAR;
	name->mark = value->mark;
	name->text = key;
	name->length = strlen(key);
	name->plain = true;
	map->count = 1;
	map->entries = arena_alloc(load->arena, sizeof(*map->entries));
	map->entries[0] = (struct conf_entry){.key = name, .value = value};
	return map;
}

/* The row that a key belongs to: its own, or the one that holds it as a variant. */
static const struct conf_field *find_row(const struct conf_field *fields, const char *key)
{
	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		if (field->variants == NULL && strcmp(field->key, key) == 0)
			return field;
		for (size_t i = 0; field->variants != NULL && field->variants[i] != NULL; i++) {
			if (strcmp(field->variants[i]->name, key) == 0)
				return field;
		}
	}
	return NULL;
}

static void offer_keys(const struct conf_field *fields, struct suggest *suggest)
{
	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		if (field->variants == NULL)
			suggest_try(suggest, field->key);
		for (size_t i = 0; field->variants != NULL && field->variants[i] != NULL; i++)
			suggest_try(suggest, field->variants[i]->name);
	}
}

static bool refuse_unknown(
	struct conf_load *load, const struct field_walk *walk, const struct conf_node *key)
{
	struct suggest suggest;
	const char *best;

	suggest_init(&suggest, key->text);
	offer_keys(walk->fields, &suggest);
	best = suggest_result(&suggest);
	if (best != NULL)
		return conf_error(load, key, "unknown key '%s'%s; did you mean '%s'?", key->text,
			walk->where, best);
	return conf_error(load, key, "unknown key '%s'%s", key->text, walk->where);
}

/* The default goes through the same parser; only what is no scalar costs a parse of YAML. */
static const struct conf_node *fallback_node(
	struct conf_load *load, const struct conf_field *field, const struct conf_node *at)
{
	const char *text = field->fallback;
	struct conf_node *node;

	if (*text == '[' || *text == '{' || *text == '\'' || *text == '"')
		return node_parse(load->arena, "default", text, strlen(text), load->diag);
	node = arena_alloc(load->arena, sizeof(*node));
	node->type = CONF_SCALAR;
	node->mark = at->mark;
	node->text = text;
	node->length = strlen(text);
	node->plain = true;
	return node;
}

static bool load_row(struct conf_load *load, const struct field_walk *walk,
	const struct conf_field *field, void *member)
{
	const struct conf_node *value;

	if (field->variants != NULL) /* its keys stand in this map */
		return field->kind->parse(load, field, walk->node, member);
	value = node_get(walk->node, field->key);
	if (value == NULL && (field->flags & CONF_INHERIT) != 0)
		value = node_get(walk->inherit, field->key);
	if (value != NULL)
		return field->kind->parse(load, field, value, member);
	if ((field->flags & CONF_REQUIRED) != 0)
		return walk->lenient ||
			conf_error(
				load, walk->node, "key '%s' is missing%s", field->key, walk->where);
	if (field->fallback != NULL)
		return field->kind->parse(
			load, field, fallback_node(load, field, walk->node), member);
	return field->kind->absent == NULL || field->kind->absent(load, field, walk->node, member);
}

bool field_walk(struct conf_load *load, const struct field_walk *walk, void *conf)
{
	bool fine = true;

	if (walk->node->type != CONF_MAPPING)
		return conf_error(load, walk->node, "a map of keys is wanted here%s", walk->where);
	for (size_t i = 0; i < walk->node->count; i++) {
		const struct conf_node *key = walk->node->entries[i].key;

		if (find_row(walk->fields, key->text) == NULL)
			fine = refuse_unknown(load, walk, key);
	}
	for (const struct conf_field *field = walk->fields; field->kind != NULL; field++) {
		if (!load_row(load, walk, field, (char *)conf + field->offset))
			fine = false;
	}
	return fine;
}

bool field_load(struct conf_load *load, const struct conf_field *fields,
	const struct conf_node *node, const struct conf_node *inherit, void *conf)
{
	const struct field_walk walk = {
		.fields = fields, .node = node, .inherit = inherit, .where = ""};

	return field_walk(load, &walk, conf);
}

bool variant_load(struct conf_load *load, const struct conf_variant *variant,
	const struct conf_node *node, void *conf)
{
	struct field_walk walk = {
		.fields = variant->fields,
		.node = node,
		.where = arena_printf(load->arena, " in the %s probe", variant->name),
	};

	if (node->type != CONF_MAPPING && variant->shorthand != NULL)
		walk.node = field_map_of(load, variant->shorthand, (struct conf_node *)node);
	if (!field_walk(load, &walk, conf))
		return false;
	return variant->check == NULL || variant->check(conf, node, load);
}

bool field_equal(const struct conf_field *fields, const void *a, const void *b)
{
	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		if (!field->kind->equal(field, field_member(field, a), field_member(field, b)))
			return false;
	}
	return true;
}
