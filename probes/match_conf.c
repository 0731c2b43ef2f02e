// SPDX-License-Identifier: MIT
/* Patterns of the configuration: compiled by pcre2, printed, compared. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/match_private.h"

static void free_code(void *code)
{
	pcre2_code_free(code);
}

/* A pattern, or NULL with *ret_error (newly allocated). */
static pcre2_code *compile(const char *text, char **ret_error)
{
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	pcre2_code *code = NULL;
	PCRE2_UCHAR message[256];
	PCRE2_SIZE offset = 0;
	int error = 0;

	if (context != NULL) {
		/* $ before CR LF as well: most protocols end their lines so. */
		(void)pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
		code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
			PCRE2_UTF | PCRE2_MULTILINE | PCRE2_USE_OFFSET_LIMIT |
				PCRE2_NEVER_BACKSLASH_C,
			&error, &offset, context);
		pcre2_compile_context_free(context);
	}
	if (code == NULL) {
		(void)pcre2_get_error_message(error, message, sizeof(message));
		*ret_error = xprintf("%s, at byte %zu", (const char *)message, offset + 1);
	}
	return code;
}

/* Adds a byte and, since pcre2 does not tell whether case counts, the same in other case. */
static void add_byte(unsigned char *set, uint32_t byte)
{
	set[byte / 8] |= (unsigned char)(1U << byte % 8);
	if (byte < 0x80 && isalpha((int)byte)) {
		byte ^= 'a' ^ 'A';
		set[byte / 8] |= (unsigned char)(1U << byte % 8);
	}
}

/* What pcre2 has found out about the bytes of a match. */
static void note_bytes(struct match *match)
{
	const uint8_t *bitmap = NULL;
	uint32_t first_type = 0, first = 0, last_type = 0, last = 0, empty = 1;

	(void)pcre2_pattern_info(match->code, PCRE2_INFO_MATCHEMPTY, &empty);
	(void)pcre2_pattern_info(match->code, PCRE2_INFO_FIRSTCODETYPE, &first_type);
	(void)pcre2_pattern_info(match->code, PCRE2_INFO_FIRSTCODEUNIT, &first);
	(void)pcre2_pattern_info(match->code, PCRE2_INFO_FIRSTBITMAP, &bitmap);
	(void)pcre2_pattern_info(match->code, PCRE2_INFO_LASTCODETYPE, &last_type);
	(void)pcre2_pattern_info(match->code, PCRE2_INFO_LASTCODEUNIT, &last);
	if (empty != 0)
		return;
	match->has_starts = first_type == 1 || bitmap != NULL;
	match->has_lasts = last_type == 1;
	if (first_type == 1)
		add_byte(match->starts, first);
	else if (bitmap != NULL)
		memcpy(match->starts, bitmap, sizeof(match->starts));
	if (last_type == 1)
		add_byte(match->lasts, last);
}

static bool parse_pattern(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct match *match;
	struct conf_text text;
	char *error = NULL;
	pcre2_code *code;

	if (!field_scalar(load, field, node, &text))
		return false;
	/* It would match anything: a check that cannot fail. */
	if (*text.text == '\0')
		return conf_error(load, node, "'%s' needs a pattern that is not empty", field->key);
	code = compile(text.text, &error);
	if (code == NULL) {
		(void)conf_error(load, node, "'%s' is not a valid pattern: %s of '%s'", field->key,
			error, text.shown);
		free(error);
		return false;
	}
	match = arena_alloc(load->arena, sizeof(*match));
	match->text = arena_strdup(load->arena, text.text);
	match->shown = arena_strdup(load->arena, text.shown);
	match->code = code;
	arena_defer(load->arena, free_code, code);
	/* Not where memory may not be made executable (MemoryDenyWriteExecute=); it works without.
	 */
	match->jit = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
	note_bytes(match);
	*(const struct match **)member = match;
	return true;
}

static void print_pattern(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct match *match = *(const struct match *const *)member;
	json_t *text = match == NULL ? json_null() : json_string(match->shown);

	(void)field;
	/* JSON is YAML. */
	(void)json_dumpf(text, stream, JSON_ENCODE_ANY);
	json_decref(text);
}

static bool equal_patterns(const struct conf_field *field, const void *a, const void *b)
{
	const struct match *one = *(const struct match *const *)a;
	const struct match *other = *(const struct match *const *)b;

	(void)field;
	if (one == NULL || other == NULL)
		return one == other;
	return strcmp(one->text, other->text) == 0;
}

static json_t *pattern_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:s, s:i}", "type", "string", "minLength", 1);
}

const struct conf_kind match_pattern = {
	.name = "a pattern (Perl-compatible regular expression)",
	.title = "a pattern",
	.size = sizeof(const struct match *),
	.parse = parse_pattern,
	.print = print_pattern,
	.equal = equal_patterns,
	.schema = pattern_schema,
};
