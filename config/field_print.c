// SPDX-License-Identifier: MIT
/* Structs back to YAML, and rows to JSON Schema. */
#include <string.h>

#include "config/field_private.h"

void field_print_text(const char *text, FILE *stream)
{
	/* Plain only where nothing could read it as anything else. */
	size_t safe = strspn(
		text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:%-");

	if (*text != '\0' && text[safe] == '\0' && *text != '-' && *text != '%' &&
		text[safe - 1] != ':') {
		(void)fputs(text, stream);
		return;
	}
	(void)fputc('"', stream);
	for (; *text != '\0'; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '"' || byte == '\\')
			(void)fprintf(stream, "\\%c", byte);
		else if (byte < 0x20 || byte == 0x7f)
			(void)fprintf(stream, "\\x%02x", byte);
		else if (byte == '$')
			(void)fputs("$$", stream);
		else
			(void)fputc(byte, stream);
	}
	(void)fputc('"', stream);
}

void field_print_flow(const struct conf_field *fields, const void *conf, FILE *stream)
{
	const char *separator = "";

	(void)fputc('{', stream);
	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		(void)fputs(separator, stream);
		if (field->variants == NULL)
			(void)fprintf(stream, "%s: ", field->key);
		field->kind->print(field, field_member(field, conf), stream);
		separator = ", ";
	}
	(void)fputc('}', stream);
}

void field_print(const struct conf_field *fields, const void *conf, int indent, FILE *stream)
{
	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		const void *member = field_member(field, conf);

		(void)fprintf(stream, "%*s", indent, "");
		if (field->variants == NULL)
			(void)fprintf(stream, "%s:", field->key);
		if (field->kind->print_block != NULL) {
			field->kind->print_block(field, member, indent, stream);
			continue;
		}
		(void)fputc(' ', stream);
		field->kind->print(field, member, stream);
		(void)fputc('\n', stream);
	}
}

static json_t *row_schema(const struct conf_field *field)
{
	json_t *schema = field->kind->schema(field);

	(void)json_object_set_new(schema, "description", json_string(field->help));
	if (field->fallback != NULL)
		(void)json_object_set_new(schema, "default", json_string(field->fallback));
	return schema;
}

static json_t *variant_schema(const struct conf_variant *variant)
{
	json_t *schema = field_or_shorthand(
		field_schema(variant->fields), variant->fields, variant->shorthand);

	(void)json_object_set_new(schema, "description", json_string(variant->summary));
	return schema;
}

/* Variants are properties of the outer map, of which exactly one is there. */
static void add_variants(const struct conf_field *field, json_t *properties, json_t *schema)
{
	json_t *choices = json_array();

	for (size_t i = 0; field->variants[i] != NULL; i++) {
		const char *name = field->variants[i]->name;

		(void)json_object_set_new(properties, name, variant_schema(field->variants[i]));
		(void)json_array_append_new(choices, json_pack("{s:[s]}", "required", name));
	}
	(void)json_object_set_new(schema, "oneOf", choices);
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
