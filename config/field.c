// SPDX-License-Identifier: MIT
/* The walker: a mapping and rows in, a filled struct out. It knows no kind. */
#include <string.h>

#include "config/field_private.h"
#include "config/suggest.h"

const struct conf_node *field_empty_map(struct conf_load *load, const struct conf_node *at)
{
	struct conf_node *node = arena_alloc(load->arena, sizeof(*node));

	node->type = CONF_MAPPING;
	node->mark = at->mark;
	return node;
}

const struct conf_node *field_map_of(
	struct conf_load *load, const char *key, const struct conf_node *value)
{
	struct conf_node *map = arena_alloc(load->arena, sizeof(*map));
	struct conf_node *name = arena_alloc(load->arena, sizeof(*name));

	name->type = CONF_SCALAR;
	name->mark = value->mark;
	name->text = key;
	name->length = strlen(key);
	map->type = CONF_MAPPING;
	map->mark = value->mark;
	map->count = 1;
	map->entries = arena_alloc(load->arena, sizeof(*map->entries));
	/* Nobody writes through a tree once it is built. */
	map->entries[0] = (struct conf_entry){.key = name, .value = (struct conf_node *)value};
	return map;
}

const struct conf_node *field_long_form(struct conf_load *load, const struct conf_node *node,
	const struct conf_field *fields, const char *shorthand, const char *name)
{
	const char *example = fields->key;

	if (node->type == CONF_MAPPING)
		return node;
	if (field_is_nothing(node))
		return field_empty_map(load, node);
	if (shorthand != NULL)
		return field_map_of(load, shorthand, node);
	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		if ((field->flags & CONF_REQUIRED) != 0 && field->variants == NULL) {
			example = field->key;
			break;
		}
	}
	(void)conf_error(load, node, "'%s' is a map, such as {%s: ...}", name, example);
	return NULL;
}

/* The index-th key of a row: its own, or those of its variants. NULL past the last one. */
static const char *key_of(const struct conf_field *field, size_t index)
{
	if (field->variants != NULL)
		return field->variants[index] == NULL ? NULL : field->variants[index]->name;
	return index == 0 ? field->key : NULL;
}

static bool has_key(const struct conf_field *fields, const char *key)
{
	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		for (size_t i = 0; key_of(field, i) != NULL; i++) {
			if (strcmp(key_of(field, i), key) == 0)
				return true;
		}
	}
	return false;
}

static const char *nearest_key(const struct conf_field *fields, const char *key)
{
	struct suggest suggest;

	suggest_init(&suggest, key);
	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		for (size_t i = 0; key_of(field, i) != NULL; i++)
			suggest_try(&suggest, key_of(field, i));
	}
	return suggest_result(&suggest);
}

/* The variant that is chosen in this map and has this key; NULL if there is none. */
static const char *inner_home(const struct field_walk *walk, const char *key)
{
	for (const struct conf_field *field = walk->fields; field->kind != NULL; field++) {
		for (size_t i = 0; field->variants != NULL && field->variants[i] != NULL; i++) {
			const struct conf_variant *variant = field->variants[i];

			if (node_get(walk->node, variant->name) != NULL &&
				has_key(variant->fields, key))
				return variant->name;
		}
	}
	return NULL;
}

/* Where a key would be right, or which key was meant; "" if nothing comes near. */
static const char *hint_for(struct conf_load *load, const struct field_walk *walk, const char *key)
{
	const char *home = inner_home(walk, key);
	const char *nearest;

	if (home != NULL)
		return arena_printf(load->arena, "; put it into the map under '%s'", home);
	for (const struct field_walk *outer = walk->outer; outer != NULL; outer = outer->outer) {
		if (has_key(outer->fields, key))
			return outer == walk->outer ? "; it belongs one level up"
						    : "; it belongs further up";
	}
	nearest = nearest_key(walk->fields, key);
	return nearest == NULL ? "" : arena_printf(load->arena, "; did you mean '%s'?", nearest);
}

/* " in the tcp probe", or "" at the top. */
static const char *place_of(struct conf_load *load, const struct field_walk *walk)
{
	return walk->name == NULL
		? ""
		: arena_printf(load->arena, " in the %s %s", walk->name, walk->noun);
}

static bool refuse_unknown(struct conf_load *load, const struct field_walk *walk)
{
	bool fine = true;

	for (size_t i = 0; i < walk->node->count; i++) {
		const struct conf_node *key = walk->node->entries[i].key;

		if (!has_key(walk->fields, key->text))
			fine = conf_error(load, key, "unknown key '%s'%s%s", key->text,
				place_of(load, walk), hint_for(load, walk, key->text));
	}
	return fine;
}

/* The default goes through the same parser; only what is no scalar costs a parse of YAML. */
static const struct conf_node *fallback_node(
	struct conf_load *load, const struct conf_field *field, const struct conf_node *at)
{
	const char *text = field->fallback;
	struct conf_node *node;

	if (*text != '\0' && strchr("[{'\"", *text) != NULL)
		return node_parse(load->arena, "default", text, strlen(text), load->diag);
	node = arena_alloc(load->arena, sizeof(*node));
	node->type = CONF_SCALAR;
	node->mark = at->mark;
	node->text = text;
	node->length = strlen(text);
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
	if ((field->flags & CONF_REQUIRED) != 0 && !walk->lenient)
		return conf_error(load, walk->node, "key '%s' is missing%s", field->key,
			place_of(load, walk));
	if (field->fallback != NULL)
		return field->kind->parse(
			load, field, fallback_node(load, field, walk->node), member);
	return field->kind->absent == NULL || field->kind->absent(load, field, walk->node, member);
}

bool field_walk(struct conf_load *load, struct field_walk *walk, void *conf)
{
	bool fine;

	walk->outer = load->walk;
	load->walk = walk;
	fine = refuse_unknown(load, walk);
	for (const struct conf_field *field = walk->fields; field->kind != NULL; field++)
		fine = load_row(load, walk, field, (char *)conf + field->offset) && fine;
	load->walk = walk->outer;
	return fine;
}

bool field_load(struct conf_load *load, const struct conf_field *fields,
	const struct conf_node *node, const struct conf_node *inherit, void *conf)
{
	struct field_walk walk = {.fields = fields, .node = node, .inherit = inherit};

	if (node->type != CONF_MAPPING)
		return conf_error(
			load, node, "a map of keys is wanted here, such as {%s: ...}", fields->key);
	return field_walk(load, &walk, conf);
}

bool field_load_variant(struct conf_load *load, const struct conf_variant *variant,
	const char *noun, const struct conf_node *node, void *conf)
{
	struct field_walk walk = {.fields = variant->fields, .name = variant->name, .noun = noun};

	walk.node = field_long_form(load, node, variant->fields, variant->shorthand, variant->name);
	if (walk.node == NULL || !field_walk(load, &walk, conf))
		return false;
	return variant->check == NULL ||
		variant->check(conf, field_is_nothing(node) ? walk.node : node, load);
}

bool variant_load(struct conf_load *load, const struct conf_variant *variant,
	const struct conf_node *node, void *conf)
{
	return field_load_variant(load, variant, "map", node, conf);
}

bool field_equal(const struct conf_field *fields, const void *a, const void *b)
{
	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		if (!field->kind->equal(field, field_member(field, a), field_member(field, b)))
			return false;
	}
	return true;
}

const struct conf_node *field_map(const struct conf_load *load)
{
	return load->walk->node;
}
