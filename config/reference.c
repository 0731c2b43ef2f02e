// SPDX-License-Identifier: MIT
/* The reference out of the rows: what a key is, its limits, its default, what it is for. */
#include "config/reference.h"

#include <stdlib.h>
#include <string.h>

#include "config/field_private.h"

/* Tables of rows that hold others. A type of probe has a few; this is far beyond. */
#define MOST_TABLES 128

struct reference {
	FILE *stream;
	/* What was printed already, and under which key. */
	const struct conf_field *printed[MOST_TABLES];
	const char *names[MOST_TABLES];
	const char *sections[MOST_TABLES];
	size_t count;
	const struct conf_variant *const *variants; /* to be printed behind the rows */
	const char *section; /* the variant that is being printed; NULL in the rows before them */
};

static void print_rows(
	struct reference *reference, const struct conf_field *fields, unsigned int depth);

/* A limit in the row's own words; only kinds of numbers have some. */
static void print_limit(const struct conf_field *field, double limit, FILE *stream)
{
	unsigned int whole = (unsigned int)limit;

	if (field->kind == &conf_count)
		field->kind->print(field, &whole, stream);
	else
		field->kind->print(field, &limit, stream);
}

static bool has_limits(const struct conf_field *field)
{
	return field->kind == &conf_count || field->kind == &conf_duration ||
		field->kind == &conf_size || field->kind == &conf_number;
}

static void print_range(const struct conf_field *field, FILE *stream)
{
	if (!has_limits(field) || (field->min <= 0 && field->max <= 0))
		return;
	if (field->min > 0) {
		(void)fputs(field->max > 0 ? ", " : ", at least ", stream);
		print_limit(field, field->min, stream);
	}
	if (field->max > 0) {
		(void)fputs(field->min > 0 ? " to " : ", at most ", stream);
		print_limit(field, field->max, stream);
	}
}

static void print_choices(const struct conf_field *field, FILE *stream)
{
	for (size_t i = 0; field->choices != NULL && field->choices[i] != NULL; i++)
		(void)fprintf(stream, "%s`%s`", i == 0 ? ": " : ", ", field->choices[i]);
}

/* "(a duration, 100ms to 1d; default `10s`; may stand in `defaults`)" */
static void print_nature(const struct conf_field *field, FILE *stream)
{
	(void)fprintf(stream, " (%s",
		field->kind->title == NULL ? field->kind->name : field->kind->title);
	print_choices(field, stream);
	print_range(field, stream);
	if (field->shorthand != NULL)
		(void)fprintf(stream, "; short for its key `%s`", field->shorthand);
	if ((field->flags & CONF_REQUIRED) != 0)
		(void)fputs("; required", stream);
	if (field->fallback != NULL)
		(void)fprintf(stream, "; default `%s`", field->fallback);
	if ((field->flags & CONF_INHERIT) != 0)
		(void)fputs("; may stand in `defaults`", stream);
	(void)fputc(')', stream);
}

/* Says where a table was printed; false where it was not, and then it counts as such. */
static bool refer_back(
	struct reference *reference, const struct conf_field *fields, const char *name)
{
	for (size_t i = 0; i < reference->count; i++) {
		const char *section = reference->sections[i];

		if (reference->printed[i] != fields)
			continue;
		(void)fprintf(reference->stream, " Keys as under `%s`", reference->names[i]);
		if (section != NULL && section != reference->section)
			(void)fprintf(reference->stream, " of [`%s`](#%s)", section, section);
		(void)fputc('.', reference->stream);
		return true;
	}
	if (reference->count < MOST_TABLES) {
		reference->printed[reference->count] = fields;
		reference->sections[reference->count] = reference->section;
		reference->names[reference->count++] = name;
	}
	return false;
}

static void print_row(
	struct reference *reference, const struct conf_field *field, unsigned int depth)
{
	bool below = field->fields != NULL;

	(void)fprintf(reference->stream, "%*s- `%s`", (int)depth * 2, "", field->key);
	print_nature(field, reference->stream);
	(void)fprintf(reference->stream, ": %s.", field->help);
	if (below && refer_back(reference, field->fields, field->key))
		below = false;
	(void)fputc('\n', reference->stream);
	if (below)
		print_rows(reference, field->fields, depth + 1);
}

/* The row whose key is one of several: they are named here and described in their sections. */
static void print_oneof(
	struct reference *reference, const struct conf_field *field, unsigned int depth)
{
	reference->variants = field->variants;
	(void)fprintf(reference->stream, "%*s- one of ", (int)depth * 2, "");
	for (size_t i = 0; field->variants[i] != NULL; i++)
		(void)fprintf(reference->stream, "%s[`%s`](#%s)", i == 0 ? "" : ", ",
			field->variants[i]->name, field->variants[i]->name);
	(void)fprintf(reference->stream, "%s: %s.\n",
		(field->flags & CONF_REQUIRED) != 0 ? " (required)" : "", field->help);
}

static void print_rows(
	struct reference *reference, const struct conf_field *fields, unsigned int depth)
{
	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		if (field->variants != NULL)
			print_oneof(reference, field, depth);
		else
			print_row(reference, field, depth);
	}
}

static void print_variant(struct reference *reference, const struct conf_variant *variant)
{
	reference->section = variant->name;
	(void)fprintf(reference->stream, "\n## %s\n\n%s.", variant->name, variant->summary);
	if (variant->shorthand != NULL)
		(void)fprintf(reference->stream,
			" A value that is no map is that of `%s`: `%s: …` is short for `%s: {%s: "
			"…}`.",
			variant->shorthand, variant->name, variant->name, variant->shorthand);
	(void)fputs("\n\n", reference->stream);
	print_rows(reference, variant->fields, 0);
	if (variant->example != NULL)
		(void)fprintf(reference->stream, "\n```yaml\n%s```\n", variant->example);
}

void reference_print(const struct conf_field *fields, FILE *stream)
{
	struct reference reference = {.stream = stream};

	print_rows(&reference, fields, 0);
	for (size_t i = 0; reference.variants != NULL && reference.variants[i] != NULL; i++)
		print_variant(&reference, reference.variants[i]);
}
