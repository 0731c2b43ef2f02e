// SPDX-License-Identifier: MIT
/* What a table of rows must obey: a mistake in a row is found before a user finds it. */
#include "config/lint.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config/field_private.h"

/* One table. */
struct lint {
	const char *name;
	const struct conf_field *fields;
	size_t size;
	FILE *complaints;
	size_t count;
};

__attribute__((format(printf, 3, 4))) static void complain(
	struct lint *lint, const char *key, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = xvprintf(format, arguments);
	va_end(arguments);
	(void)fprintf(lint->complaints, "%s: %s: %s\n", lint->name, key == NULL ? "?" : key, text);
	free(text);
	lint->count++;
}

static size_t member_size(const struct conf_field *field)
{
	return field->kind->size != 0 ? field->kind->size : field->size;
}

static void check_words(struct lint *lint, const struct conf_field *field)
{
	const char *help = field->help;
	size_t length = help == NULL ? 0 : strlen(help);

	if (field->key[strspn(field->key, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
		complain(lint, field->key, "is not snake_case");
	if (length == 0)
		complain(lint, field->key, "has no help");
	else if (help[length - 1] == '.' || strchr(help, '\n') != NULL)
		complain(lint, field->key, "its help ends with a stop or has several lines");
	for (const struct conf_field *other = lint->fields; other != field; other++) {
		if (strcmp(other->key, field->key) == 0)
			complain(lint, field->key, "stands in the table twice");
	}
}

static void check_place(struct lint *lint, const struct conf_field *field)
{
	size_t end = field->offset + member_size(field);

	if (member_size(field) == 0)
		complain(lint, field->key, "has no size");
	if (lint->size != 0 && end > lint->size)
		complain(lint, field->key, "reaches past the struct");
	for (const struct conf_field *other = lint->fields; other != field; other++) {
		if (field->offset < other->offset + member_size(other) && other->offset < end)
			complain(lint, field->key, "overlaps '%s'", other->key);
	}
}

static void check_kind(struct lint *lint, const struct conf_field *field)
{
	const struct conf_kind *kind = field->kind;
	json_t *schema;

	if (kind->name == NULL || kind->parse == NULL || kind->print == NULL ||
		kind->equal == NULL || kind->schema == NULL) {
		complain(lint, field->key, "its kind lacks something");
		return;
	}
	schema = kind->schema(field);
	if (!json_is_object(schema))
		complain(lint, field->key, "its kind prints no schema");
	json_decref(schema);
	if (field->max > 0 && field->min > field->max)
		complain(lint, field->key, "its limits leave nothing");
	if ((kind == &conf_choice) != (field->choices != NULL))
		complain(lint, field->key, "choices and the choice kind go together");
	if ((kind == &conf_oneof) != (field->variants != NULL))
		complain(lint, field->key, "variants and the oneof kind go together");
}

/* Parses the default as a load would; the range is part of that. */
static void check_fallback(struct lint *lint, const struct conf_field *field)
{
	const struct conf_field rows[] = {*field, {0}};
	struct arena *arena = arena_create();
	struct conf_diag *diag = diag_create();
	struct conf_load load = {.arena = arena, .diag = diag};
	struct conf_node empty = {.type = CONF_MAPPING, .mark = {.file = "default"}};
	void *conf = arena_alloc(arena, field->offset + member_size(field));

	if ((field->flags & CONF_REQUIRED) != 0)
		complain(lint, field->key, "is required and has a default");
	else if (!field_load(&load, rows, &empty, NULL, conf) || diag_errors(diag) > 0)
		complain(lint, field->key, "its default does not load: %s",
			diag_at(diag, 0) == NULL ? "?" : diag_at(diag, 0)->text);
	diag_destroy(diag);
	arena_destroy(arena);
}

static bool has_key(const struct conf_field *fields, const char *key)
{
	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		/* The key of a row of variants is for messages: nobody writes it. */
		if (field->variants == NULL && strcmp(field->key, key) == 0)
			return true;
	}
	return false;
}

static void check_below(struct lint *lint, const struct conf_field *field)
{
	char *name = xprintf("%s.%s", lint->name, field->key);

	if (field->shorthand != NULL &&
		(field->fields == NULL || !has_key(field->fields, field->shorthand)))
		complain(lint, field->key, "its short form fills a key that is not there");
	if (field->fields != NULL)
		lint->count += lint_table(name, field->fields, field->size, lint->complaints);
	free(name);
	for (size_t i = 0; field->variants != NULL && field->variants[i] != NULL; i++) {
		const struct conf_variant *variant = field->variants[i];

		if (variant->summary == NULL || *variant->summary == '\0')
			complain(lint, variant->name, "has no summary");
		if (variant->shorthand != NULL && !has_key(variant->fields, variant->shorthand))
			complain(lint, variant->name,
				"its short form fills a key that is not there");
		if (has_key(lint->fields, variant->name))
			complain(lint, variant->name, "is a variant and a key");
		lint->count +=
			lint_table(variant->name, variant->fields, variant->size, lint->complaints);
	}
}

size_t lint_table(const char *name, const struct conf_field *fields, size_t size, FILE *complaints)
{
	struct lint lint = {.name = name, .fields = fields, .size = size, .complaints = complaints};

	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		if (field->key == NULL) {
			complain(&lint, NULL, "a row without a key");
			continue;
		}
		check_words(&lint, field);
		check_place(&lint, field);
		check_kind(&lint, field);
		if (field->fallback != NULL)
			check_fallback(&lint, field);
		check_below(&lint, field);
	}
	return lint.count;
}
