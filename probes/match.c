// SPDX-License-Identifier: MIT
/* Regular expressions beside a text, with limits on what one match may cost. */
#include "probes/match_private.h"

#include <math.h>
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
 * Places tried between two looks at the clock: few at first, so that an expensive pattern
 * is noticed early, then twice as many each time. Loops such as \R* or [a-z]*+ run to the
 * end of the text without a step that counts, in 1 to 2 ns a byte. So the bytes that one
 * round may look at, all its places together, are bounded as well: to about 0.2 s.
 */
#define FIRST_ROUND 16
#define MOST_BYTES 150e6

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

static bool has_byte(const unsigned char *set, unsigned char byte)
{
	return (set[byte / 8] >> byte % 8 & 1) != 0;
}

/*
 * pcre2 looks for the first byte of a match and for one that it must have, as these do,
 * but at the start of each round, and over all of the rest.
 */

/* Between CR and LF is no place by itself: pcre2 steps over it, but where it begins or ends. */
static bool is_inside_newline(const struct effort *effort, size_t place)
{
	return place > 0 && place < effort->length && effort->bytes[place] == '\n' &&
		effort->bytes[place - 1] == '\r';
}

/* The first place from here on where a match may begin; past the length if there is none. */
static size_t next_place(const struct effort *effort, size_t from)
{
	const unsigned char *bytes = effort->bytes;

	if (effort->match->has_starts) {
		while (from < effort->length && !has_byte(effort->match->starts, bytes[from]))
			from++;
		if (from >= effort->length)
			return effort->length + 1;
	}
	/* A start inside a code point is no place, and pcre2 does not look. */
	while (from < effort->length && (bytes[from] & 0xC0) == 0x80)
		from++;
	return is_inside_newline(effort, from) ? from - 1 : from;
}

/* How many places, from 0 on, may have a match. */
static size_t count_places(const struct effort *effort)
{
	size_t count = effort->length;

	if (!effort->match->has_lasts)
		return effort->length + 1;
	while (count > 0 && !has_byte(effort->match->lasts, effort->bytes[count - 1]))
		count--;
	return count;
}

/* Places from 0 to the length, the empty rest included. */
static int match_all(const struct effort *effort)
{
	double start = cpu_seconds();
	size_t count = count_places(effort);
	size_t from = next_place(effort, 0);
	size_t round = FIRST_ROUND;

	while (from < count) {
		/* Two at least: see next_place(). */
		double most = fmax(MOST_BYTES / (double)(effort->length - from + 1), 2);
		int code;

		round = (double)round < most ? round : (size_t)most;
		if (is_inside_newline(effort, from + round - 1))
			round++;
		code = match_round(effort, from, round);
		if (code != PCRE2_ERROR_NOMATCH)
			return code;
		if (cpu_seconds() - start > MOST_SECONDS)
			return PCRE2_ERROR_MATCHLIMIT;
		from = next_place(effort, from + round);
		round *= 2;
	}
	return PCRE2_ERROR_NOMATCH;
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

enum match_result match_lines(const struct match *match, const char *text,
	struct match_subject *ret_line, const char **ret_error)
{
	double start = cpu_seconds();

	for (;;) {
		const struct match_subject line = {.bytes = text, .length = strcspn(text, "\n")};
		enum match_result result = match_find(match, &line, NULL, ret_error);

		if (result == MATCH_YES)
			*ret_line = line;
		if (result != MATCH_NO || text[line.length] == '\0')
			return result;
		if (cpu_seconds() - start > MOST_SECONDS)
			return judge(PCRE2_ERROR_MATCHLIMIT, ret_error);
		text += line.length + 1;
	}
}

const char *match_text(const struct match *match)
{
	return match->text;
}

const char *match_shown(const struct match *match)
{
	return match->shown;
}
