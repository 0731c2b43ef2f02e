/* SPDX-License-Identifier: MIT */
/* probes/http_headers.h: assertions on the headers of an answer. */
#ifndef PROBES_HTTP_HEADERS_H
#define PROBES_HTTP_HEADERS_H

#include "config/field.h"
#include "probes/match.h"

struct trace;

struct http_header_rule {
	const char *name; /* of the header, in any case */
	const struct match *pattern;
};

/* A row: a map from names of headers to patterns, or to {pattern: ...}. */
extern const struct conf_field http_header_fields[];
bool http_header_check(void *conf, const struct conf_node *node, struct conf_load *load);
#define HTTP_HEADERS(T, member, ...)                                                               \
	CONF_NAMED(T, member, http_header_rule, http_header_fields, .shorthand = "pattern",        \
		.check = http_header_check, __VA_ARGS__)

/* RFC 9110, section 5.6.2: what the name of a header and a method are made of. */
bool http_is_token(const char *text);

/* Header lines as they came, one behind the other, each with its line break. */
struct http_head {
	char *lines; /* owned */
	size_t length;
};

void http_head_add(struct http_head *head, const char *line, size_t length);
void http_head_finish(struct http_head *head); /* frees; empty again */

/*
 * Any line of the name may match a wanted pattern, and none may match an unwanted one. True
 * if all rules hold; else *ret_text says which one does not (free()), and *ret_error
 * whether the pattern engine failed. trace may be NULL.
 */
struct http_head_rules {
	const struct conf_items *wanted, *unwanted; /* of struct http_header_rule */
	struct trace *trace;
};
bool http_head_holds(const struct http_head *head, const struct http_head_rules *rules,
	char **ret_text, bool *ret_error);

#endif
