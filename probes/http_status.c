// SPDX-License-Identifier: MIT
/* Sets of HTTP status codes: 204, 2xx, 200-299, alone or in a list. */
#include "probes/http_status.h"

#include <ctype.h>
#include <string.h>

/* What a status, a class and a range look like; also the schema. */
#define STATUS_PATTERN "^([1-5][0-9]{2}|[1-5]xx|[1-5][0-9]{2}-[1-5][0-9]{2})$"

bool http_statuses_have(const struct http_statuses *set, long status)
{
	unsigned long at = (unsigned long)(status - HTTP_STATUS_MIN);

	if (status < HTTP_STATUS_MIN || status > HTTP_STATUS_MAX)
		return false;
	return set->bits[at / 64] >> at % 64 & 1;
}

void http_statuses_add(struct http_statuses *set, long status)
{
	unsigned long at = (unsigned long)(status - HTTP_STATUS_MIN);

	set->bits[at / 64] |= UINT64_C(1) << at % 64;
}

bool http_statuses_overlap(const struct http_statuses *a, const struct http_statuses *b)
{
	for (size_t i = 0; i < sizeof(a->bits) / sizeof(*a->bits); i++) {
		if ((a->bits[i] & b->bits[i]) != 0)
			return true;
	}
	return false;
}

void http_statuses_subtract(struct http_statuses *set, const struct http_statuses *other)
{
	for (size_t i = 0; i < sizeof(set->bits) / sizeof(*set->bits); i++)
		set->bits[i] &= ~other->bits[i];
}

static void add_range(struct http_statuses *set, unsigned int first, unsigned int last)
{
	for (unsigned int status = first; status <= last; status++)
		http_statuses_add(set, (long)status);
}

/* Three digits in range at text, or 0. */
static unsigned int read_status(const char *text)
{
	if (text[0] < '1' || text[0] > '5' || !isdigit((unsigned char)text[1]) ||
		!isdigit((unsigned char)text[2]))
		return 0;
	return (unsigned int)((text[0] - '0') * 100 + (text[1] - '0') * 10 + text[2] - '0');
}

/* Adds what one item says; false if it says nothing. */
static bool add_item(struct http_statuses *set, const char *text)
{
	size_t length = strlen(text);
	unsigned int first, last;

	if (length == 3 && text[0] >= '1' && text[0] <= '5' && strcmp(text + 1, "xx") == 0) {
		first = (unsigned int)(text[0] - '0') * 100;
		add_range(set, first, first + 99);
		return true;
	}
	/* A range is two codes and a hyphen. */
	if (length != 3 && (length != 7 || text[3] != '-'))
		return false;
	first = read_status(text);
	last = length == 3 ? first : read_status(text + 4);
	if (first == 0 || last < first)
		return false;
	add_range(set, first, last);
	return true;
}

static bool parse_item(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct http_statuses *set)
{
	struct conf_text text;

	if (!field_scalar(load, field, node, &text))
		return false;
	if (add_item(set, text.text))
		return true;
	return conf_error(load, node,
		"'%s' is not a status code in '%s'; write 204, 2xx or 200-299", text.shown,
		field->key);
}

static bool parse_statuses(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	bool fine = true;

	if (node->type != CONF_SEQUENCE)
		return parse_item(load, field, node, member);
	for (size_t i = 0; i < node->count; i++)
		fine = parse_item(load, field, node->items[i], member) && fine;
	if (node->count == 0)
		return conf_error(load, node, "'%s' names no status code", field->key);
	return fine;
}

static void print_statuses(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct http_statuses *set = member;
	const char *separator = "";

	(void)field;
	(void)fputc('[', stream);
	for (int first = HTTP_STATUS_MIN; first <= HTTP_STATUS_MAX; first++) {
		int last = first;

		if (!http_statuses_have(set, first))
			continue;
		while (http_statuses_have(set, last + 1))
			last++;
		(void)fprintf(stream, "%s%d", separator, first);
		if (last > first)
			(void)fprintf(stream, "-%d", last);
		separator = ", ";
		first = last;
	}
	(void)fputc(']', stream);
}

static bool equal_statuses(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	return memcmp(a, b, sizeof(struct http_statuses)) == 0;
}

static json_t *statuses_schema(const struct conf_field *field)
{
	json_t *item = json_pack("{s:[{s:s,s:s},{s:s,s:i,s:i}]}", "anyOf", "type", "string",
		"pattern", STATUS_PATTERN, "type", "integer", "minimum", HTTP_STATUS_MIN, "maximum",
		HTTP_STATUS_MAX);

	(void)field;
	return json_pack("{s:[O,{s:s,s:i,s:o}]}", "anyOf", item, "type", "array", "minItems", 1,
		"items", item);
}

const struct conf_kind http_status_set = {
	.name = "a status set",
	.size = sizeof(struct http_statuses),
	.parse = parse_statuses,
	.print = print_statuses,
	.equal = equal_statuses,
	.schema = statuses_schema,
};
