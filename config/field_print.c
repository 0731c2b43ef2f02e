// SPDX-License-Identifier: MIT
/* Structs back to YAML. */
#include <stdlib.h>
#include <string.h>

#include "config/field_private.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* Words that other readers of YAML take for something else, and "null", which stands for nothing.
 */
static bool is_reserved(const char *text)
{
	static const char *const words[] = {
		"null", "true", "false", "yes", "no", "on", "off", "y", "n"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcasecmp(text, words[i]) == 0)
			return true;
	}
	return false;
}

/* Plain only where nothing could read it as anything but this text. */
static bool is_safe_plain(const char *text)
{
	size_t length = strlen(text);

	return length > 0 && strchr(LETTERS "/_", *text) != NULL && !is_reserved(text) &&
		text[length - 1] != ':' && strspn(text, LETTERS "0123456789_./:%@+=-") == length;
}

static void print_text(const char *text, bool verbatim, FILE *stream)
{
	if (is_safe_plain(text)) {
		(void)fputs(text, stream);
		return;
	}
	(void)fputc('"', stream);
	for (; *text != '\0'; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '"' || byte == '\\')
			(void)fprintf(stream, "\\%c", byte);
		else if (byte < 0x20 || byte == 0x7f)
			(void)fprintf(stream, "\\x%02X", byte);
		else if (byte == '$' && !verbatim && (text[1] == '$' || text[1] == '{'))
			(void)fputs("$$", stream); /* so that it reads back as one */
		else
			(void)fputc(byte, stream);
	}
	(void)fputc('"', stream);
}

void field_print_text(const char *text, FILE *stream)
{
	print_text(text, false, stream);
}

void field_print_string(const struct conf_field *field, const char *text, FILE *stream)
{
	print_text(field_shown(text), (field->flags & CONF_VERBATIM) != 0, stream);
}

/* What a value that was not given prints as, empty maps and lists included: no key for it. */
static bool says_nothing(const char *text)
{
	static const char *const texts[] = {"", "null", "{}", "[]", "\n", " []\n"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (strcmp(text, texts[i]) == 0)
			return true;
	}
	return false;
}

/* The value as a newly allocated text, "" where it says nothing. indent < 0 asks for one line. */
static char *value_text(const struct conf_field *field, const void *member, int indent)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		xfail();
	if (indent >= 0 && field->kind->print_block != NULL)
		field->kind->print_block(field, member, indent, stream);
	else
		field->kind->print(field, member, stream);
	if (fclose(stream) != 0)
		xfail();
	if (says_nothing(text) && (field->flags & CONF_EMPTY) == 0)
		*text = '\0';
	return text;
}

void field_print_flow(const struct conf_field *fields, const void *conf, FILE *stream)
{
	const char *separator = "";

	(void)fputc('{', stream);
	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		char *text = value_text(field, field_member(field, conf), -1);

		if (*text != '\0') {
			(void)fputs(separator, stream);
			if (field->variants == NULL)
				(void)fprintf(stream, "%s: ", field->key);
			(void)fputs(text, stream);
			separator = ", ";
		}
		free(text);
	}
	(void)fputc('}', stream);
}

/* One row, its key at indent; start stands before it. A block comes with its own line breaks. */
static void print_row(const struct conf_field *field, const char *text, const char *start,
	int indent, FILE *stream)
{
	bool is_block = strchr(text, '\n') != NULL;

	(void)fprintf(stream, "%*s%s", indent, "", start);
	if (field->variants == NULL)
		(void)fprintf(stream, "%s:%s", field->key, is_block ? "" : " ");
	(void)fprintf(stream, "%s%s", text, is_block ? "" : "\n");
}

static void print_rows(const struct conf_field *fields, const void *conf, const char *start,
	int indent, FILE *stream)
{
	int shift = (int)strlen(start);

	for (const struct conf_field *field = fields; field->kind != NULL; field++) {
		char *text = value_text(field, field_member(field, conf), indent + shift);

		if (*text != '\0') {
			print_row(field, text, start, indent, stream);
			/* After the first one, the rows stand where its key does. */
			start = "";
			indent += shift;
			shift = 0;
		}
		free(text);
	}
	if (*start != '\0')
		(void)fprintf(stream, "%*s%s{}\n", indent, "", start);
}

void field_print(const struct conf_field *fields, const void *conf, int indent, FILE *stream)
{
	print_rows(fields, conf, "", indent, stream);
}

void field_print_item(const struct conf_field *fields, const void *conf, int indent, FILE *stream)
{
	print_rows(fields, conf, "- ", indent, stream);
}
