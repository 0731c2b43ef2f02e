// SPDX-License-Identifier: MIT
/* Kinds of numbers and truth: each reads its own text, nothing is guessed. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config/field_private.h"

#define DIGITS "0123456789"

/* Doubles hold any number of 15 digits. */
#define MOST_DIGITS 15

static bool check_range(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, double number)
{
	if (number >= field->min && (field->max <= 0 || number <= field->max))
		return true;
	if (field->max <= 0)
		return conf_error(
			load, node, "'%s' must be at least %.15g", field->key, field->min);
	return conf_error(
		load, node, "'%s' must be from %.15g to %.15g", field->key, field->min, field->max);
}

/* The text is no whole number: says what is wrong with it, and what to write. */
static bool refuse_count(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, const struct conf_text *text)
{
	size_t zeros = strspn(text->text, "0");
	size_t digits = strspn(text->text, DIGITS);

	/* 010 is eight to some and ten to others. */
	if (zeros > 0 && digits > zeros && text->text[digits] == '\0' && text->text == text->shown)
		return conf_error(load, node, "'%s': %s has a leading zero; write %s", field->key,
			text->shown, text->text + zeros);
	return conf_error(load, node,
		"'%s': '%s' is not a whole number in plain digits, such as %d", field->key,
		text->shown, field->min > 3 ? (int)field->min : 3);
}

/* -3, 0, 12: digits without a leading zero. */
static bool is_whole(const char *text)
{
	size_t length;

	text += *text == '-';
	length = strspn(text, DIGITS);
	return length > 0 && text[length] == '\0' && (length == 1 || *text != '0');
}

static bool count_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_text text;
	double number;

	if (!field_scalar(load, field, node, &text))
		return false;
	if (!is_whole(text.text))
		return refuse_count(load, field, node, &text);
	number = strtod(text.text, NULL);
	if (!check_range(load, field, node, *text.text == '-' && number > -1 ? -1 : number))
		return false;
	if (number > UINT_MAX)
		return conf_error(load, node, "'%s' must be at most %u", field->key, UINT_MAX);
	*(unsigned int *)member = (unsigned int)number;
	return true;
}

static void count_print(const struct conf_field *field, const void *member, FILE *stream)
{
	unsigned int count = *(const unsigned int *)member;

	/* Where 0 is no value that could be given, it says that none was. */
	if (count > 0 || field->min <= 0)
		(void)fprintf(stream, "%u", count);
}

static bool count_equal(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	return *(const unsigned int *)a == *(const unsigned int *)b;
}

static json_t *ranged(const struct conf_field *field, const char *type)
{
	json_t *schema = json_pack("{s:s, s:f}", "type", type, "minimum", field->min);

	if (field->max > 0)
		(void)json_object_set_new(schema, "maximum", json_real(field->max));
	return field_or_variable(schema);
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

static bool integer_absent(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	(void)load;
	(void)field;
	(void)node;
	*(int *)member = CONF_NO_INTEGER;
	return true;
}

static bool integer_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_text text;
	double number;

	if (!field_scalar(load, field, node, &text))
		return false;
	if (!is_whole(text.text))
		return refuse_count(load, field, node, &text);
	number = strtod(text.text, NULL);
	if (!check_range(load, field, node, number))
		return false;
	if (number > INT_MAX || number <= INT_MIN)
		return conf_error(load, node, "'%s' must be at most %d", field->key, INT_MAX);
	*(int *)member = (int)number;
	return true;
}

static void integer_print(const struct conf_field *field, const void *member, FILE *stream)
{
	int integer = *(const int *)member;

	(void)field;
	if (integer != CONF_NO_INTEGER)
		(void)fprintf(stream, "%d", integer);
}

static bool integer_equal(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	return *(const int *)a == *(const int *)b;
}

const struct conf_kind conf_integer = {
	.name = "a whole number",
	.size = sizeof(int),
	.parse = integer_parse,
	.print = integer_print,
	.equal = integer_equal,
	.schema = count_schema,
	.absent = integer_absent,
};

/* -12, 0.25, .5: digits and one point, neither an exponent nor a leading zero. */
static bool is_plain_decimal(const char *text)
{
	size_t whole, fraction = 0;

	text += *text == '-';
	whole = strspn(text, DIGITS);
	if (whole > 1 && *text == '0')
		return false;
	text += whole;
	if (*text == '.') {
		fraction = strspn(text + 1, DIGITS);
		text += 1 + fraction;
		if (fraction == 0)
			return false;
	}
	return *text == '\0' && whole + fraction > 0 && whole + fraction <= MOST_DIGITS;
}

static bool number_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_text text;

	if (!field_scalar(load, field, node, &text))
		return false;
	if (!is_plain_decimal(text.text))
		return conf_error(load, node, "'%s': '%s' is not a plain number, such as 5 or 0.25",
			field->key, text.shown);
	*(double *)member = strtod(text.text, NULL);
	return check_range(load, field, node, *(double *)member);
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
			"'%s': '%s' is not a mode of three or four octal digits, such as 022",
			field->key, text.shown);
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
	return json_pack("{s:[s, s], s:s, s:i, s:i}", "type", "string", "integer", "pattern",
		"^[0-7]{3,4}$|\\$\\{", "minimum", 0, "maximum", 7777);
}

const struct conf_kind conf_mode = {
	.name = "a mode such as 022",
	.size = sizeof(unsigned int),
	.parse = mode_parse,
	.print = mode_print,
	.equal = count_equal,
	.schema = mode_schema,
};

static bool bool_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_text text;

	if (!field_scalar(load, field, node, &text))
		return false;
	if (strcmp(text.text, "true") != 0 && strcmp(text.text, "false") != 0)
		return conf_error(
			load, node, "'%s': '%s' is neither true nor false", field->key, text.shown);
	*(bool *)member = *text.text == 't';
	return true;
}

static void bool_print(const struct conf_field *field, const void *member, FILE *stream)
{
	(void)field;
	(void)fputs(*(const bool *)member ? "true" : "false", stream);
}

static bool bool_equal(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	return *(const bool *)a == *(const bool *)b;
}

static json_t *bool_schema(const struct conf_field *field)
{
	(void)field;
	return field_or_variable(json_pack("{s:s}", "type", "boolean"));
}

const struct conf_kind conf_bool = {
	.name = "true or false",
	.size = sizeof(bool),
	.parse = bool_parse,
	.print = bool_print,
	.equal = bool_equal,
	.schema = bool_schema,
};
