// SPDX-License-Identifier: MIT
/* What libyaml could not read, said so that it can be put right. */
#include <string.h>

#include "config/yaml_private.h"

/* The start of a line, lines counted from zero as libyaml does. */
static const char *find_line(const char *bytes, size_t length, size_t line)
{
	const char *end = bytes + length;

	while (line > 0 && bytes < end) {
		const char *next = memchr(bytes, '\n', (size_t)(end - bytes));

		if (next == NULL)
			return end;
		bytes = next + 1;
		line--;
	}
	return bytes;
}

/* The column of a tab before the first text of a line, from 1; 0 if there is none. */
static unsigned int tab_column(const char *line, const char *end)
{
	for (const char *c = line; c < end && (*c == ' ' || *c == '\t'); c++) {
		if (*c == '\t')
			return (unsigned int)(c - line) + 1;
	}
	return 0;
}

static const char *hint_for(const char *problem)
{
	static const struct {
		const char *problem, *hint;
	} hints[] = {
		{"found character that cannot start any token",
			"; put text that starts with a special character in quotes"},
		{"mapping values are not allowed in this context",
			"; put text that contains ': ' in quotes, and check the indentation"},
		{"could not find expected ':'", "; a key is followed by ': '"},
		{"did not find expected key",
			"; keys of one map stand in one column, and a quote ends its text"},
		{"did not find expected '-' indicator",
			"; all items of a list start with '- ' in one column"},
		{"did not find expected ',' or ']'", "; the list is not closed with ']'"},
		{"did not find expected ',' or '}'", "; the map is not closed with '}'"},
		{"found unexpected end of stream", "; a quote is not closed"},
		{"found unknown escape character",
			"; in double quotes write \\\\ for a backslash, or use single quotes"},
	};

	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++) {
		if (strcmp(problem, hints[i].problem) == 0)
			return hints[i].hint;
	}
	return "";
}

void yaml_report_syntax(const char *file, const char *bytes, size_t length,
	const yaml_parser_t *parser, struct conf_diag *diag)
{
	const char *problem = parser->problem != NULL ? parser->problem : "unreadable";
	const char *line = find_line(bytes, length, parser->problem_mark.line);
	struct conf_mark mark = {
		.file = file,
		.line = (unsigned int)parser->problem_mark.line + 1,
		.column = (unsigned int)parser->problem_mark.column + 1,
	};
	unsigned int tab = tab_column(line, bytes + length);

	if (parser->error == YAML_MEMORY_ERROR)
		xfail();
	if (tab > 0) {
		mark.column = tab;
		diag_add(
			diag, mark, CONF_ERROR, "a tab in the indentation; YAML takes blanks only");
		return;
	}
	if (parser->context == NULL || parser->context_mark.line == parser->problem_mark.line)
		diag_add(diag, mark, CONF_ERROR, "not YAML: %s%s", problem, hint_for(problem));
	else
		diag_add(diag, mark, CONF_ERROR, "not YAML: %s (%s from line %zu)%s", problem,
			parser->context, parser->context_mark.line + 1, hint_for(problem));
}
