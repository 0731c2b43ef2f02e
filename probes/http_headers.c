// SPDX-License-Identifier: MIT
/* Header lines of an answer, and the patterns that they are held to. */
#include "probes/http_headers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/arena.h"
#include "probes/trace.h"

const struct conf_field http_header_fields[] = {
	MATCH_PATTERN(struct http_header_rule, pattern, .flags = CONF_REQUIRED,
		.help = "Regular expression for the header's value"),
	{0},
};

bool http_is_token(const char *text)
{
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		if (!isalnum((unsigned char)*text) && strchr("!#$%&'*+-.^_`|~", *text) == NULL)
			return false;
	}
	return true;
}

bool http_header_check(void *conf, const struct conf_node *node, struct conf_load *load)
{
	const struct http_header_rule *rule = conf;

	return http_is_token(rule->name) ||
		conf_error(load, node, "'%s' cannot be the name of a header", rule->name);
}

void http_head_add(struct http_head *head, const char *line, size_t length)
{
	head->lines = xrealloc(head->lines, head->length + length, 1);
	memcpy(head->lines + head->length, line, length);
	head->length += length;
}

void http_head_finish(struct http_head *head)
{
	free(head->lines);
	*head = (struct http_head){0};
}

/* The value in a line of that header, without blanks around it; NULL for another header. */
static const char *value_in(const char *line, size_t length, const char *name, size_t *ret_length)
{
	size_t at = strlen(name);

	if (length <= at || line[at] != ':' || strncasecmp(line, name, at) != 0)
		return NULL;
	at++;
	while (at < length && isspace((unsigned char)line[at]))
		at++;
	while (length > at && isspace((unsigned char)line[length - 1]))
		length--;
	*ret_length = length - at;
	return line + at;
}

/* What the lines of one header come to: whether there is one, and whether one matches. */
struct heard {
	size_t count;
	enum match_result result; /* ERROR, or YES if one matches */
	const char *error;
};

static struct heard hear(const struct http_head *head, const struct http_header_rule *rule)
{
	struct heard heard = {.result = MATCH_NO};
	const char *line = head->lines, *end = head->lines + head->length;

	while (line < end && heard.result == MATCH_NO) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		size_t length = next == NULL ? (size_t)(end - line) : (size_t)(next + 1 - line);
		size_t value_length;
		const char *value = value_in(line, length, rule->name, &value_length);

		line += length;
		if (value == NULL)
			continue;
		heard.count++;
		heard.result = match_bytes(rule->pattern, value, value_length, &heard.error);
	}
	return heard;
}

static const char *words_for(const struct heard *heard)
{
	if (heard->count == 0)
		return "no such header";
	if (heard->result == MATCH_ERROR)
		return heard->error;
	return heard->result == MATCH_YES ? "matches" : "does not match";
}

/* True if the rule holds; else the two outputs say why it does not. */
static bool holds(
	const struct heard *heard, bool wanted, const char *name, char **ret_text, bool *ret_error)
{
	if (heard->result == (wanted ? MATCH_YES : MATCH_NO))
		return true;
	*ret_error = heard->result == MATCH_ERROR;
	*ret_text = xprintf(
		"%s: %s %s", wanted ? "header_match" : "header_reject", name, words_for(heard));
	return false;
}

bool http_head_holds(const struct http_head *head, const struct http_head_rules *rules,
	char **ret_text, bool *ret_error)
{
	for (int wanted = 1; wanted >= 0; wanted--) {
		const struct conf_items *items = wanted ? rules->wanted : rules->unwanted;
		const struct http_header_rule *rule = items->items;

		for (size_t i = 0; i < items->count; i++, rule++) {
			struct heard heard = hear(head, rule);

			trace_add(rules->trace, TRACE_ASSERTION, "%s %s '%s': %s",
				wanted ? "header_match" : "header_reject", rule->name,
				match_shown(rule->pattern), words_for(&heard));
			if (!holds(&heard, wanted, rule->name, ret_text, ret_error))
				return false;
		}
	}
	return true;
}
