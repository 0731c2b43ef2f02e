// SPDX-License-Identifier: MIT
/* Ranges in the syntax of Nagios plugins, read, printed and judged. */
#include "probes/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"

#define DIGITS "0123456789"

/* Doubles hold any number of 15 digits. */
#define MOST_DIGITS 15

/* Reads -12 or 0.25, moving *text behind it: plain digits, no exponent. */
static bool read_number(const char **text, double *ret_number)
{
	const char *at = *text;
	size_t whole, fraction = 0;

	at += *at == '-';
	whole = strspn(at, DIGITS);
	at += whole;
	if (*at == '.') {
		fraction = strspn(at + 1, DIGITS);
		at += 1 + fraction;
		if (fraction == 0)
			return false;
	}
	if (whole + fraction == 0 || whole + fraction > MOST_DIGITS)
		return false;
	*ret_number = strtod(*text, NULL);
	*text = at;
	return true;
}

/* What is wrong with the text, or NULL. */
static const char *read_range(const char *text, struct limit_range *range)
{
	range->from = 0;
	range->to = INFINITY;
	range->inside = *text == '@';
	text += range->inside;
	if (*text == ':')
		return "has no start; write 0:10, or ~:10 where all below is fine";
	if (text[0] == '~' && text[1] == ':') {
		range->from = -INFINITY;
		text++;
	} else if (!read_number(&text, &range->from)) {
		return "is not a range; write 10, 10:, ~:10, 10:20 or @10:20";
	} else if (*text == '\0') {
		range->to = range->from;
		range->from = 0;
	}
	if (*text == ':') {
		text++;
		if (*text != '\0' && !read_number(&text, &range->to))
			return "has no number behind its colon";
	}
	if (*text != '\0')
		return "is not a range; write 10, 10:, ~:10, 10:20 or @10:20";
	if (isinf(range->from) && isinf(range->to))
		return "has neither a start nor an end";
	if (range->from > range->to)
		return "ends before it starts";
	return NULL;
}

static bool parse_range(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct limit_range *range = member;
	struct conf_text text;
	const char *problem;

	if (!field_scalar(load, field, node, &text))
		return false;
	problem = read_range(text.text, range);
	if (problem != NULL)
		return conf_error(load, node, "'%s': '%s' %s", field->key, text.shown, problem);
	range->text = text.shown;
	return true;
}

static void print_range(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct limit_range *range = member;

	(void)field;
	if (range->text != NULL)
		field_print_text(range->text, stream);
}

static bool equal_ranges(const struct conf_field *field, const void *a, const void *b)
{
	const struct limit_range *left = a, *right = b;

	(void)field;
	if (left->text == NULL || right->text == NULL)
		return left->text == right->text;
	return !(left->from < right->from || left->from > right->from) &&
		!(left->to < right->to || left->to > right->to) && left->inside == right->inside;
}

static json_t *range_schema(const struct conf_field *field)
{
	/* Editors see 4 as a number. */
	(void)field;
	return json_pack("{s:[{s:s},{s:s,s:s}]}", "anyOf", "type", "number", "type", "string",
		"pattern", "^@?(~:|-?[0-9.]+:?)(-?[0-9.]+)?$|\\$\\{");
}

const struct conf_kind limit_range = {
	.name = "a range such as 4, 10:, ~:10, 10:20 or @10:20",
	.size = sizeof(struct limit_range),
	.parse = parse_range,
	.print = print_range,
	.equal = equal_ranges,
	.schema = range_schema,
};

bool limit_is_broken(const struct limit_range *range, double number)
{
	bool within = number >= range->from && number <= range->to;

	if (range->text == NULL)
		return false;
	return isnan(number) || within == range->inside;
}

enum probe_status limits_judge(const struct limit_range *warning,
	const struct limit_range *critical, double number, const struct limit_range **ret_broken)
{
	*ret_broken = NULL;
	if (limit_is_broken(critical, number)) {
		*ret_broken = critical;
		return PROBE_CRITICAL;
	}
	if (limit_is_broken(warning, number)) {
		*ret_broken = warning;
		return PROBE_WARNING;
	}
	return PROBE_PASSING;
}

char *limit_text(const struct limit_range *range, enum probe_status status)
{
	const char *text = range->text;

	return xprintf("%s %s %s", range->inside ? "inside" : "outside", status_name(status),
		text + (*text == '@'));
}
