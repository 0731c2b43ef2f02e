// SPDX-License-Identifier: MIT
/* A row kind: text with escapes -> bytes. */
#include "probes/stream_text.h"

#include <string.h>

static int hex_digit(char digit)
{
	static const char digits[] = "0123456789abcdef";
	const char *found;

	if (digit >= 'A' && digit <= 'F')
		digit = (char)(digit - 'A' + 'a');
	found = digit == '\0' ? NULL : strchr(digits, digit);
	return found == NULL ? -1 : (int)(found - digits);
}

/* One escape behind its backslash; returns how many characters it takes, 0 if it is none. */
static size_t unescape(const char *text, char *ret_byte)
{
	int high, low;

	switch (*text) {
	case 'n':
		*ret_byte = '\n';
		return 1;
	case 'r':
		*ret_byte = '\r';
		return 1;
	case 't':
		*ret_byte = '\t';
		return 1;
	case '\\':
		*ret_byte = '\\';
		return 1;
	case 'x':
		high = hex_digit(text[1]);
		low = high < 0 ? -1 : hex_digit(text[2]);
		*ret_byte = (char)(high * 16 + low);
		return low < 0 ? 0 : 3;
	default:
		return 0;
	}
}

static bool parse_text(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct stream_text *text = member;
	struct conf_text written;
	char *bytes;

	if (!field_scalar(load, field, node, &written))
		return false;
	bytes = arena_alloc(load->arena, strlen(written.text) + 1);
	text->bytes = bytes;
	text->shown = arena_strdup(load->arena, written.shown);
	for (const char *at = written.text; *at != '\0';) {
		size_t taken = 1;

		if (*at == '\\') {
			taken = unescape(at + 1, &bytes[text->length]);
			if (taken == 0)
				return conf_error(load, node,
					"'%s' holds a backslash that is no escape; there are \\n, "
					"\\r, \\t, \\xHH and \\\\",
					field->key);
			taken++;
		} else {
			bytes[text->length] = *at;
		}
		at += taken;
		text->length++;
	}
	/* Nothing to send is no key. */
	if (text->length == 0)
		return conf_error(load, node, "'%s' is empty; leave it out", field->key);
	return true;
}

static bool parse_hex(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct stream_text *text = member;
	struct conf_text written;
	char *bytes;

	if (!field_scalar(load, field, node, &written))
		return false;
	bytes = arena_alloc(load->arena, strlen(written.text) / 2 + 1);
	for (const char *at = written.text; *at != '\0';) {
		int high = hex_digit(at[0]), low = high < 0 ? -1 : hex_digit(at[1]);

		if (low < 0)
			return conf_error(load, node,
				"'%s' is written in pairs of hexadecimal digits, such as 41 4d 51 "
				"50",
				field->key);
		bytes[text->length++] = (char)(high * 16 + low);
		at += 2;
		at += strspn(at, " ");
	}
	if (text->length == 0)
		return conf_error(load, node, "'%s' is empty; leave it out", field->key);
	text->bytes = bytes;
	text->shown = arena_strdup(load->arena, written.shown);
	return true;
}

static json_t *hex_schema(const struct conf_field *field)
{
	(void)field;
	/* 41 alone is a number to YAML. */
	return json_pack(
		"{s:[s, s], s:s}", "type", "string", "integer", "pattern", "^([0-9A-Fa-f]{2} *)+$");
}

static void print_text(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct stream_text *text = member;
	json_t *shown = text->bytes == NULL ? json_null() : json_string(text->shown);

	(void)field;
	/* JSON is YAML. */
	(void)json_dumpf(shown, stream, JSON_ENCODE_ANY);
	json_decref(shown);
}

static bool equal_texts(const struct conf_field *field, const void *a, const void *b)
{
	const struct stream_text *one = a, *other = b;

	(void)field;
	if (one->bytes == NULL || other->bytes == NULL)
		return one->bytes == other->bytes;
	return one->length == other->length && memcmp(one->bytes, other->bytes, one->length) == 0;
}

static json_t *text_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:s, s:i}", "type", "string", "minLength", 1);
}

const struct conf_kind stream_escaped = {
	.name = "text with escapes (\\n, \\r, \\t, \\xHH, \\\\)",
	.size = sizeof(struct stream_text),
	.parse = parse_text,
	.print = print_text,
	.equal = equal_texts,
	.schema = text_schema,
};

const struct conf_kind stream_hex = {
	.name = "bytes in hexadecimal",
	.size = sizeof(struct stream_text),
	.parse = parse_hex,
	.print = print_text,
	.equal = equal_texts,
	.schema = hex_schema,
};
