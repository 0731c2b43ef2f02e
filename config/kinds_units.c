// SPDX-License-Identifier: MIT
/* Kinds of quantities with a unit: durations and sizes. */
#include <string.h>

#include "config/field_private.h"
#include "config/units.h"

/* What durations and sizes differ in. */
struct quantity {
	const char *(*parse)(const char *text, double *ret_value);
	void (*print)(double value, char *buffer, size_t size);
	double most; /* where the row sets no limit */
};

static const struct quantity duration = {
	.parse = units_parse_duration,
	.print = units_print_duration,
	.most = UNITS_DURATION_MAX,
};

static const struct quantity size = {
	.parse = units_parse_size,
	.print = units_print_size,
	.most = UNITS_SIZE_MAX,
};

_Static_assert(UNITS_DURATION_SIZE >= UNITS_SIZE_SIZE, "one buffer serves both");

static bool parse(struct conf_load *load, const struct quantity *quantity,
	const struct conf_field *field, const struct conf_node *node, double *member)
{
	double most = field->max > 0 ? field->max : quantity->most;
	char least_text[UNITS_DURATION_SIZE], most_text[UNITS_DURATION_SIZE];
	struct conf_text text;
	const char *complaint;
	double value = 0;

	if (!field_scalar(load, field, node, &text))
		return false;
	complaint = quantity->parse(text.text, &value);
	if (complaint != NULL)
		return conf_error(load, node, "'%s': '%s' is not %s: %s", field->key, text.shown,
			field->kind->name, complaint);
	*member = value;
	if (value >= field->min && value <= most)
		return true;
	quantity->print(field->min, least_text, sizeof(least_text));
	quantity->print(most, most_text, sizeof(most_text));
	return conf_error(
		load, node, "'%s' must be from %s to %s", field->key, least_text, most_text);
}

static void print(const struct quantity *quantity, double value, FILE *stream)
{
	char text[UNITS_DURATION_SIZE];

	quantity->print(value, text, sizeof(text));
	(void)fputs(text, stream);
}

static bool equal(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	/* Both come from the same parser: equal text gives equal bits. */
	return memcmp(a, b, sizeof(double)) == 0;
}

static bool duration_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	return parse(load, &duration, field, node, member);
}

static void duration_print(const struct conf_field *field, const void *member, FILE *stream)
{
	double value = *(const double *)member;

	/* Where 0 is no value that could be given, it says that none was. */
	if (value > 0 || field->min <= 0)
		print(&duration, value, stream);
}

static json_t *duration_schema(const struct conf_field *field)
{
	(void)field;
	/* Each unit once, from large to small; that there is one, a lookahead says. */
	return json_pack("{s:s, s:s}", "type", "string", "pattern",
		"^(?=.)([0-9]*\\.?[0-9]+d)?([0-9]*\\.?[0-9]+h)?([0-9]*\\.?[0-9]+m)?"
		"([0-9]*\\.?[0-9]+s)?([0-9]*\\.?[0-9]+ms)?$|\\$\\{");
}

const struct conf_kind conf_duration = {
	.name = "a duration",
	.size = sizeof(double),
	.parse = duration_parse,
	.print = duration_print,
	.equal = equal,
	.schema = duration_schema,
};

static bool size_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	return parse(load, &size, field, node, member);
}

static void size_print(const struct conf_field *field, const void *member, FILE *stream)
{
	double value = *(const double *)member;

	if (value > 0 || field->min <= 0)
		print(&size, value, stream);
}

static json_t *size_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:s, s:s}", "type", "string", "pattern",
		"^[0-9]*\\.?[0-9]+(B|KiB|MiB|GiB)$|\\$\\{");
}

const struct conf_kind conf_size = {
	.name = "a size",
	.size = sizeof(double),
	.parse = size_parse,
	.print = size_print,
	.equal = equal,
	.schema = size_schema,
};
