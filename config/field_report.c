// SPDX-License-Identifier: MIT
/* What kinds and checks say about a node, and the words they say it with. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config/field_private.h"

__attribute__((format(printf, 4, 0))) static void report(struct conf_load *load,
	struct conf_mark mark, enum conf_severity severity, const char *format, va_list arguments)
{
	char *text = xvprintf(format, arguments);

	diag_add(load->diag, mark, severity, "%s", text);
	free(text);
}

bool conf_error(struct conf_load *load, const struct conf_node *node, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	report(load, node->mark, CONF_ERROR, format, arguments);
	va_end(arguments);
	return false;
}

bool conf_error_at(struct conf_load *load, struct conf_mark mark, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	report(load, mark, CONF_ERROR, format, arguments);
	va_end(arguments);
	return false;
}

void conf_warn_at(struct conf_load *load, struct conf_mark mark, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	report(load, mark, CONF_WARNING, format, arguments);
	va_end(arguments);
}

const char *field_join(struct conf_load *load, const void *words,
	const char *(*next)(const void *words, size_t index))
{
	const char *joined = "";

	for (size_t i = 0; next(words, i) != NULL; i++) {
		const char *joint = i == 0 ? "" : next(words, i + 1) == NULL ? " or " : ", ";

		joined = arena_printf(load->arena, "%s%s%s", joined, joint, next(words, i));
	}
	return joined;
}

bool field_same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}
