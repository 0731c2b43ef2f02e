// SPDX-License-Identifier: MIT
/* Regular expressions by pcre2, with limits on what one match may cost. */
#include "probes/match.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/arena.h"

/*
 * pcre2 counts steps anew for each place where a match may begin, so its own
 * limit bounds one place only. A million steps are about 10 ms interpreted.
 */
#define MOST_STEPS 1000000

/* KiB of backtracking memory: (.|\n)* over 64 KiB of text takes about 8 MiB. */
#define MOST_HEAP_KIB (16U * 1024)

/* Nested groups; pcre2's default. Only the interpreter looks at it. */
#define MOST_DEPTH 10000000

/* s of CPU for one match over all places: a usual one takes 1 ms for 1 MiB. */
#define MOST_SECONDS 0.1

/*
 * Places tried between two looks at the clock. It starts small, so that an
 * expensive pattern is noticed early, and doubles. Compiled, 1,024 places cost a
 * few microseconds; the interpreter looks over the rest of the text at the start of each
 * round, which many rounds would make quadratic.
 */
#define FIRST_ROUND 256
#define MOST_ROUND_JIT 1024
#define MOST_ROUND 16384

struct match {
	const char *text;
	const char *shown; /* the same, what came from the environment as *** */
	pcre2_code *code;
	bool jit;
};

/* One match in progress. */
struct effort {
	const struct match *match;
	pcre2_match_context *context;
	pcre2_match_data *data;
	const unsigned char *bytes;
	size_t length;
	uint32_t options; /* of pcre2_match() */
};

static double cpu_seconds(void)
{
	struct timespec now = {0};

	/* Of this thread: a busy or stopped machine must not change a verdict. */
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Bytes of the valid UTF-8 sequence at bytes[0], 0 if there is none (Unicode 3.9, table 3-7). */
static size_t sequence_length(const unsigned char *bytes, size_t left)
{
	unsigned char first = bytes[0];
	unsigned char low = 0x80, high = 0xBF; /* limits of the second byte */
	size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;

	if (first < 0x80)
		return 1;
	if (first < 0xC2 || first > 0xF4 || left < length)
		return 0;
	if (first == 0xE0)
		low = 0xA0; /* else overlong */
	else if (first == 0xED)
		high = 0x9F; /* else a surrogate */
	else if (first == 0xF0)
		low = 0x90; /* else overlong */
	else if (first == 0xF4)
		high = 0x8F; /* else past U+10FFFF */
	if (bytes[1] < low || bytes[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++) {
		if (bytes[i] < 0x80 || bytes[i] > 0xBF)
			return 0;
	}
	return length;
}

/* A copy with U+FFFD (three bytes) for each bad byte. free(). */
static unsigned char *repair(const unsigned char *bytes, size_t length, size_t *ret_length)
{
	unsigned char *copy = xrealloc(NULL, length, 3);
	size_t filled = 0, at = 0;

	while (at < length) {
		size_t valid = sequence_length(bytes + at, length - at);

		memcpy(copy + filled,
			valid > 0 ? bytes + at : (const unsigned char *)"\xEF\xBF\xBD",
			valid > 0 ? valid : 3);
		filled += valid > 0 ? valid : 3;
		at += valid > 0 ? valid : 1;
	}
	*ret_length = filled;
	return copy;
}

static int match_round(const struct effort *effort, size_t from, size_t places)
{
	int code;

	(void)pcre2_set_offset_limit(effort->context, from + places - 1);
	code = pcre2_match(effort->match->code, effort->bytes, effort->length, from,
		effort->options, effort->data, effort->context);
	/* Compiled patterns have 32 KiB for backtracking; the interpreter has the heap. */
	if (code == PCRE2_ERROR_JIT_STACKLIMIT)
		code = pcre2_match(effort->match->code, effort->bytes, effort->length, from,
			effort->options | PCRE2_NO_JIT, effort->data, effort->context);
	return code;
}

static bool is_utf_error(int code)
{
	return code <= PCRE2_ERROR_UTF8_ERR1 && code >= PCRE2_ERROR_UTF8_ERR21;
}

/* Places from 0 to the length, the empty rest included. */
static int match_all(const struct effort *effort)
{
	size_t most = effort->match->jit ? MOST_ROUND_JIT : MOST_ROUND;
	double start = cpu_seconds();
	size_t round = FIRST_ROUND;
	size_t from = 0;
	int code;

	for (;;) {
		code = match_round(effort, from, round);
		if (code != PCRE2_ERROR_NOMATCH || effort->length - from < round)
			return code;
		if (cpu_seconds() - start > MOST_SECONDS)
			return PCRE2_ERROR_MATCHLIMIT;
		from += round;
		/* A start inside a code point is no place, and pcre2 does not look. */
		while (from < effort->length && (effort->bytes[from] & 0xC0) == 0x80)
			from++;
		round = round * 2 < most ? round * 2 : most;
	}
}

static enum match_result judge(int code, const char **ret_error)
{
	if (code >= 0)
		return MATCH_YES;
	switch (code) {
	case PCRE2_ERROR_NOMATCH:
		return MATCH_NO;
	case PCRE2_ERROR_MATCHLIMIT:
	case PCRE2_ERROR_DEPTHLIMIT:
		*ret_error = "the pattern takes too much effort on this text";
		break;
	case PCRE2_ERROR_HEAPLIMIT:
	case PCRE2_ERROR_JIT_STACKLIMIT:
	case PCRE2_ERROR_NOMEMORY:
		*ret_error = "the pattern takes too much memory on this text";
		break;
	default:
		*ret_error = "the pattern engine failed";
		break;
	}
	return MATCH_ERROR;
}

/* The offset in bytes of an offset in their repaired copy. */
static size_t unrepaired(const unsigned char *bytes, size_t length, size_t offset)
{
	size_t at = 0, copied = 0;

	while (at < length && copied < offset) {
		size_t valid = sequence_length(bytes + at, length - at);

		copied += valid > 0 ? valid : 3;
		at += valid > 0 ? valid : 1;
	}
	return at;
}

enum match_result match_find(const struct match *match, const struct match_subject *subject,
	size_t *ret_end, const char **ret_error)
{
	struct effort effort = {
		.match = match,
		.context = pcre2_match_context_create(NULL),
		.data = pcre2_match_data_create(1, NULL),
		.bytes = subject->length > 0 ? subject->bytes : (const unsigned char *)"",
		.length = subject->length,
		.options = subject->unfinished ? PCRE2_NOTEOL : 0,
	};
	unsigned char *repaired = NULL;
	int code = PCRE2_ERROR_NOMEMORY;

	if (effort.context == NULL || effort.data == NULL)
		goto out;
	(void)pcre2_set_match_limit(effort.context, MOST_STEPS);
	(void)pcre2_set_heap_limit(effort.context, MOST_HEAP_KIB);
	(void)pcre2_set_depth_limit(effort.context, MOST_DEPTH);
	/* The first round checks the whole text; the later ones need not. */
	code = match_round(&effort, 0, 1);
	effort.options |= PCRE2_NO_UTF_CHECK;
	if (is_utf_error(code)) {
		repaired = repair(subject->bytes, subject->length, &effort.length);
		effort.bytes = repaired;
		code = PCRE2_ERROR_NOMATCH;
	}
	if (code == PCRE2_ERROR_NOMATCH)
		code = match_all(&effort);
	if (code >= 0 && ret_end != NULL) {
		size_t end = pcre2_get_ovector_pointer(effort.data)[1];

		*ret_end =
			repaired == NULL ? end : unrepaired(subject->bytes, subject->length, end);
	}
out:
	free(repaired);
	pcre2_match_data_free(effort.data);
	pcre2_match_context_free(effort.context);
	return judge(code, ret_error);
}

enum match_result match_bytes(
	const struct match *match, const void *bytes, size_t length, const char **ret_error)
{
	const struct match_subject subject = {.bytes = bytes, .length = length};

	return match_find(match, &subject, NULL, ret_error);
}

const char *match_text(const struct match *match)
{
	return match->text;
}

const char *match_shown(const struct match *match)
{
	return match->shown;
}

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
	.size = sizeof(const struct match *),
	.parse = parse_pattern,
	.print = print_pattern,
	.equal = equal_patterns,
	.schema = pattern_schema,
};
