// SPDX-License-Identifier: MIT
/* Sets of codes: 204, 200-299, for HTTP also 2xx, alone or in a list. */
#include "probes/code_set.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
#define FIRST_CLASS 100 /* from here on the first digit is a class of its own */
#define CODE_LIMIT (sizeof(((struct code_set *)NULL)->bits) * 8)

bool code_set_has(const struct code_set *set, long code)
{
	unsigned long at = (unsigned long)code;

	if (code < 0 || at >= CODE_LIMIT)
		return false;
	return set->bits[at / 64] >> at % 64 & 1;
}

void code_set_add(struct code_set *set, long code)
{
	unsigned long at = (unsigned long)code;

	set->bits[at / 64] |= UINT64_C(1) << at % 64;
}

bool code_set_overlaps(const struct code_set *a, const struct code_set *b)
{
	for (size_t i = 0; i < sizeof(a->bits) / sizeof(*a->bits); i++) {
		if ((a->bits[i] & b->bits[i]) != 0)
			return true;
	}
	return false;
}

static void subtract(struct code_set *set, const struct code_set *other)
{
	for (size_t i = 0; i < sizeof(set->bits) / sizeof(*set->bits); i++)
		set->bits[i] &= ~other->bits[i];
}

bool code_set_settle(struct code_set *passing, bool passing_written, struct code_set *warning,
	bool warning_written)
{
	if (passing_written && warning_written)
		return !code_set_overlaps(passing, warning);
	if (warning_written)
		subtract(passing, warning);
	else
		subtract(warning, passing);
	return true;
}

static bool has_classes(const struct conf_field *field)
{
	return field->min >= FIRST_CLASS;
}

static void add_range(struct code_set *set, long first, long last)
{
	for (long code = first; code <= last; code++)
		code_set_add(set, code);
}

/* Reads up to three digits, moving *text behind them; -1 if they are no code of the row. */
static long read_code(const struct conf_field *field, const char **text)
{
	size_t digits = strspn(*text, DIGITS);
	long code = digits >= 1 && digits <= 3 ? strtol(*text, NULL, 10) : -1;

	if ((digits > 1 && **text == '0') || (double)code < field->min || (double)code > field->max)
		return -1;
	*text += digits;
	return code;
}

/* Adds what one item says; false if it says nothing. */
static bool add_item(const struct conf_field *field, struct code_set *set, const char *text)
{
	long first, last;

	if (has_classes(field) && text[0] >= '1' && text[0] <= '5' && strcmp(text + 1, "xx") == 0) {
		first = (text[0] - '0') * 100L;
		add_range(set, first, first + 99);
		return true;
	}
	first = last = read_code(field, &text);
	if (first >= 0 && *text == '-') {
		text++;
		last = read_code(field, &text);
	}
	if (first < 0 || last < first || *text != '\0')
		return false;
	add_range(set, first, last);
	return true;
}

static bool parse_item(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct code_set *set)
{
	struct conf_text text;

	if (!field_scalar(load, field, node, &text))
		return false;
	if (add_item(field, set, text.text))
		return true;
	if (has_classes(field))
		return conf_error(load, node,
			"'%s' is not a status code in '%s'; write 204, 2xx or 200-299", text.shown,
			field->key);
	return conf_error(load, node,
		"'%s' is not a code from %.0f to %.0f in '%s'; write 2 or 3-9", text.shown,
		field->min, field->max, field->key);
}

static bool parse_codes(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	bool fine = true;

	if (node->type != CONF_SEQUENCE)
		return parse_item(load, field, node, member);
	for (size_t i = 0; i < node->count; i++)
		fine = parse_item(load, field, node->items[i], member) && fine;
	if (node->count == 0 && (field->flags & CONF_EMPTY) == 0)
		return conf_error(load, node, "'%s' names no code", field->key);
	return fine;
}

static void print_codes(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct code_set *set = member;
	const char *separator = "";

	(void)field;
	(void)fputc('[', stream);
	for (long first = 0; first < (long)CODE_LIMIT; first++) {
		long last = first;

		if (!code_set_has(set, first))
			continue;
		while (code_set_has(set, last + 1))
			last++;
		(void)fprintf(stream, "%s%ld", separator, first);
		if (last > first)
			(void)fprintf(stream, "-%ld", last);
		separator = ", ";
		first = last;
	}
	(void)fputc(']', stream);
}

static bool equal_codes(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	return memcmp(a, b, sizeof(struct code_set)) == 0;
}

static json_t *codes_schema(const struct conf_field *field)
{
	/* The last digits of a number cannot be bounded by a pattern that people read. */
	const char *pattern = has_classes(field)
		? "^([1-5][0-9]{2}|[1-5]xx|[1-5][0-9]{2}-[1-5][0-9]{2})$"
		: "^[0-9]{1,3}(-[0-9]{1,3})?$";
	json_t *item =
		json_pack("{s:[{s:s,s:s},{s:s,s:f,s:f}]}", "anyOf", "type", "string", "pattern",
			pattern, "type", "integer", "minimum", field->min, "maximum", field->max);

	return json_pack("{s:[O,{s:s,s:i,s:o}]}", "anyOf", item, "type", "array", "minItems",
		(field->flags & CONF_EMPTY) != 0 ? 0 : 1, "items", item);
}

const struct conf_kind code_set = {
	.name = "a code or a list of codes",
	.size = sizeof(struct code_set),
	.parse = parse_codes,
	.print = print_codes,
	.equal = equal_codes,
	.schema = codes_schema,
};
