// SPDX-License-Identifier: MIT
/* Rows as JSON Schema, for editors. */
#include <string.h>

#include "config/field_private.h"

json_t *field_text_schema(void)
{
	return json_pack("{s:[s, s, s, s]}", "type", "string", "number", "boolean", "null");
}

json_t *field_or_nothing(json_t *take_schema)
{
	json_t *alternatives = json_object_get(take_schema, "anyOf");

	if (alternatives == NULL)
		return json_pack("{s:[o, {s:s}]}", "anyOf", take_schema, "type", "null");
	(void)json_array_append_new(alternatives, json_pack("{s:s}", "type", "null"));
	return take_schema;
}

json_t *field_or_variable(json_t *take_schema)
{
	return json_pack(
		"{s:[o, {s:s, s:s}]}", "anyOf", take_schema, "type", "string", "pattern", "\\$\\{");
}

/* The default as an editor would see it; our own text for what is no JSON, such as 10s. */
static json_t *default_value(const char *fallback)
{
	json_t *value = json_loads(fallback, JSON_DECODE_ANY, NULL);

	return value != NULL ? value : json_string(fallback);
}

static json_t *row_schema(const struct conf_field *field)
{
	json_t *schema = field->kind->schema(field);

	(void)json_object_set_new(schema, "description", json_string(field->help));
	if (field->fallback != NULL)
		(void)json_object_set_new(schema, "default", default_value(field->fallback));
	return schema;
}

/* Variants stand in the outer map, so their schema joins that of the map. */
static void add_variants(const struct conf_field *field, json_t *properties, json_t *schema)
{
	json_t *variants = field->kind->schema(field);

	(void)json_object_update(properties, json_object_get(variants, "properties"));
	(void)json_object_del(variants, "properties");
	(void)json_object_update(schema, variants);
	json_decref(variants);
}

json_t *field_schema(const struct conf_field *fields)
{
	json_t *schema = json_object(), *properties = json_object(), *required = json_array();

	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		if (field->variants != NULL) {
			add_variants(field, properties, schema);
			continue;
		}
		(void)json_object_set_new(properties, field->key, row_schema(field));
		if ((field->flags & CONF_REQUIRED) != 0)
			(void)json_array_append_new(required, json_string(field->key));
	}
	(void)json_object_set_new(schema, "type", json_string("object"));
	(void)json_object_set_new(schema, "additionalProperties", json_false());
	(void)json_object_set_new(schema, "properties", properties);
	if (json_array_size(required) > 0)
		(void)json_object_set(schema, "required", required);
	json_decref(required);
	return schema;
}

json_t *field_or_shorthand(
	json_t *take_schema, const struct conf_field *fields, const char *shorthand)
{
	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		if (shorthand != NULL && field->key != NULL && strcmp(field->key, shorthand) == 0)
			return json_pack(
				"{s:[o, o]}", "anyOf", take_schema, field->kind->schema(field));
	}
	return take_schema;
}
