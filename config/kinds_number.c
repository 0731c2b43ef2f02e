// SPDX-License-Identifier: MIT
/* Kinds of numbers: each reads its own text, nothing is guessed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/field_private.h"
#include "config/units.h"

#define DIGITS "0123456789"

static bool has_limits(const struct conf_field *field)
{
	return field->min < 0 || field->min > 0 || field->max > 0;
}

static void print_plain(double number, char *text, size_t size)
{
	(void)snprintf(text, size, "%.15g", number);
}

static bool check_range(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, double number,
	void (*print)(double number, char *text, size_t size))
{
	char least[UNITS_DURATION_SIZE], most[UNITS_DURATION_SIZE];

	if (!has_limits(field) || (number >= field->min && number <= field->max))
		return true;
	print(field->min, least, sizeof(least));
	print(field->max, most, sizeof(most));
	return conf_error(load, node, "%s must lie between %s and %s", field->key, least, most);
}

static bool digits_are_plain(const char *text)
{
	size_t length = strspn(text, DIGITS);

	/* 010 could mean eight or ten: it is refused. Nine digits always fit. */
	return length > 0 && length < 10 && text[length] == '\0' && (length == 1 || *text != '0');
}

static bool count_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_text text;
	unsigned long count;

	if (!field_scalar(load, field, node, &text))
		return false;
	if (!digits_are_plain(text.text))
		return conf_error(load, node,
			"'%s' is no whole number; write digits without a sign, a leading zero or "
			"a unit",
			text.shown);
	count = strtoul(text.text, NULL, 10);
	*(unsigned int *)member = (unsigned int)count;
	return check_range(load, field, node, (double)count, print_plain);
}

static void count_print(const struct conf_field *field, const void *member, FILE *stream)
{
	(void)field;
	(void)fprintf(stream, "%u", *(const unsigned int *)member);
}

static bool count_equal(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	return *(const unsigned int *)a == *(const unsigned int *)b;
}

static json_t *ranged(const struct conf_field *field, const char *type)
{
	json_t *schema = json_pack("{s:s}", "type", type);

	if (has_limits(field)) {
		(void)json_object_set_new(schema, "minimum", json_real(field->min));
		(void)json_object_set_new(schema, "maximum", json_real(field->max));
	}
	return schema;
}

static json_t *count_schema(const struct conf_field *field)
{
	return ranged(field, "integer");
}

const struct conf_kind conf_count = {
	.name = "a whole number",
	.size = sizeof(unsigned int),
	.parse = count_parse,
	.print = count_print,
	.equal = count_equal,
	.schema = count_schema,
};

static bool number_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_text text;
	size_t sign, whole, point, fraction;

	if (!field_scalar(load, field, node, &text))
		return false;
	sign = *text.text == '-';
	whole = strspn(text.text + sign, DIGITS);
	point = text.text[sign + whole] == '.';
	fraction = strspn(text.text + sign + whole + point, DIGITS);
	if (whole == 0 || whole > 15 || (point == 1 && fraction == 0) ||
		text.text[sign + whole + point + fraction] != '\0')
		return conf_error(load, node, "'%s' is no number; write 5 or 0.25", text.shown);
	*(double *)member = strtod(text.text, NULL);
	return check_range(load, field, node, *(double *)member, print_plain);
}

static void number_print(const struct conf_field *field, const void *member, FILE *stream)
{
	(void)field;
	(void)fprintf(stream, "%.15g", *(const double *)member);
}

static bool number_equal(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	/* Both come from the same parser: equal text gives equal bits. */
	return memcmp(a, b, sizeof(double)) == 0;
}

static json_t *number_schema(const struct conf_field *field)
{
	return ranged(field, "number");
}

const struct conf_kind conf_number = {
	.name = "a number",
	.size = sizeof(double),
	.parse = number_parse,
	.print = number_print,
	.equal = number_equal,
	.schema = number_schema,
};

static bool duration_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_text text;
	const char *problem;

	if (!field_scalar(load, field, node, &text))
		return false;
	problem = units_parse_duration(text.text, member);
	if (problem != NULL)
		return conf_error(load, node, "%s '%s': %s", field->key, text.shown, problem);
	if (!has_limits(field) && *(double *)member > UNITS_DURATION_MAX)
		return conf_error(load, node, "%s is longer than ten years", field->key);
	return check_range(load, field, node, *(double *)member, units_print_duration);
}

static void duration_print(const struct conf_field *field, const void *member, FILE *stream)
{
	char text[UNITS_DURATION_SIZE];

	(void)field;
	units_print_duration(*(const double *)member, text, sizeof(text));
	(void)fputs(text, stream);
}

static json_t *duration_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:s, s:s}", "type", "string", "pattern", "^([0-9.]+(d|h|m|s|ms))+$|[$]");
}

const struct conf_kind conf_duration = {
	.name = "a duration such as 10s",
	.size = sizeof(double),
	.parse = duration_parse,
	.print = duration_print,
	.equal = number_equal,
	.schema = duration_schema,
};

static bool size_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_text text;
	const char *problem;

	if (!field_scalar(load, field, node, &text))
		return false;
	problem = units_parse_size(text.text, member);
	if (problem != NULL)
		return conf_error(load, node, "%s '%s': %s", field->key, text.shown, problem);
	return check_range(load, field, node, *(double *)member, units_print_size);
}

static void size_print(const struct conf_field *field, const void *member, FILE *stream)
{
	char text[UNITS_SIZE_SIZE];

	(void)field;
	units_print_size(*(const double *)member, text, sizeof(text));
	(void)fputs(text, stream);
}

static json_t *size_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:s, s:s}", "type", "string", "pattern", "^[0-9.]+(B|KiB|MiB|GiB)$|[$]");
}

const struct conf_kind conf_size = {
	.name = "a size such as 64KiB",
	.size = sizeof(double),
	.parse = size_parse,
	.print = size_print,
	.equal = number_equal,
	.schema = size_schema,
};

static bool mode_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_text text;
	size_t length;

	if (!field_scalar(load, field, node, &text))
		return false;
	length = strspn(text.text, "01234567");
	if (length < 3 || length > 4 || text.text[length] != '\0')
		return conf_error(load, node,
			"'%s' is no mode; write three or four octal digits, such as 022",
			text.shown);
	*(unsigned int *)member = (unsigned int)strtoul(text.text, NULL, 8);
	return true;
}

static void mode_print(const struct conf_field *field, const void *member, FILE *stream)
{
	(void)field;
	(void)fprintf(stream, "\"%04o\"", *(const unsigned int *)member);
}

static json_t *mode_schema(const struct conf_field *field)
{
	(void)field;
	/* YAML readers see 022 as a number. */
	return json_pack("{s:[s, s]}", "type", "string", "integer");
}

const struct conf_kind conf_mode = {
	.name = "a mode such as 022",
	.size = sizeof(unsigned int),
	.parse = mode_parse,
	.print = mode_print,
	.equal = count_equal,
	.schema = mode_schema,
};
