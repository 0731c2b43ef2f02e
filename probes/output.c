// SPDX-License-Identifier: MIT
/* Any bytes in, valid UTF-8 of bounded length out. */
#include "probes/output.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define MARK_FORMAT "\xe2\x80\xa6 [%zu bytes left out] \xe2\x80\xa6"
#define MARK_SIZE 64 /* the mark with the 20 digits of the longest size_t, 43 bytes, and room */
/* The line of ours: a quarter of OUTPUT_MAX, so that the capture is never crowded out. */
#define LINE_MOST 1024

/* What one step of the decoder found: 1 to 4 bytes that belong together. */
struct unit {
	size_t length; /* bytes taken from the input */
	size_t clean_length; /* bytes of clean text; 0 for what is dropped */
	const char *clean; /* into the input, or static */
	bool truncated; /* the input ended inside a sequence that was fine so far */
};

/* Captured bytes in one piece, or in two with a gap between that was not kept. */
struct view {
	const unsigned char *bytes;
	size_t length;
	size_t gap_at; /* where the second piece begins; length if there is no gap */
	size_t gap; /* bytes missing there */
};

struct text {
	char *bytes;
	size_t length;
};

void output_append(struct output *output, const void *bytes, size_t length)
{
	const char *next = bytes;
	size_t part;

	if (length == 0)
		return;
	output->total += length;
	if (output->head == NULL)
		output->head = xcalloc(OUTPUT_MAX, 1);
	part = OUTPUT_MAX - output->head_length;
	part = length < part ? length : part;
	memcpy(output->head + output->head_length, next, part);
	output->head_length += part;
	next += part;
	length -= part;
	if (length == 0)
		return;
	if (output->tail == NULL)
		output->tail = xcalloc(OUTPUT_MAX, 1);
	if (length > OUTPUT_MAX) {
		next += length - OUTPUT_MAX;
		length = OUTPUT_MAX;
	}
	part = OUTPUT_MAX - output->tail_next;
	part = length < part ? length : part;
	memcpy(output->tail + output->tail_next, next, part);
	memcpy(output->tail, next + part, length - part);
	output->tail_next = (output->tail_next + length) % OUTPUT_MAX;
}

void output_clear(struct output *output)
{
	free(output->head);
	free(output->tail);
	*output = (struct output){0};
}

/*
 * How many bytes follow a lead byte, and the bounds of the first of them (Unicode,
 * table 3-7): overlong forms, surrogates and code points past U+10FFFF are cut off
 * there. 0 for what is no lead byte.
 */
static size_t lead_bounds(unsigned char lead, unsigned char *ret_low, unsigned char *ret_high)
{
	*ret_low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
	*ret_high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 1;
	if (lead >= 0xe0 && lead <= 0xef)
		return 2;
	if (lead >= 0xf0 && lead <= 0xf4)
		return 3;
	return 0;
}

static bool is_dropped(const unsigned char *bytes, size_t length)
{
	if (length == 1)
		return (bytes[0] < 0x20 && bytes[0] != '\t' && bytes[0] != '\n') ||
			bytes[0] == 0x7f;
	return length == 2 && bytes[0] == 0xc2 && bytes[1] <= 0x9f; /* U+0080 to U+009F */
}

/* The unit at the start of the input, which is not empty. */
static struct unit decode(const unsigned char *bytes, size_t length)
{
	unsigned char low, high;
	size_t following = lead_bounds(bytes[0], &low, &high);
	struct unit unit = {.length = 1, .clean = (const char *)bytes};

	while (unit.length <= following && unit.length < length && bytes[unit.length] >= low &&
		bytes[unit.length] <= high) {
		unit.length++;
		low = 0x80;
		high = 0xbf;
	}
	if (bytes[0] < 0x80 || (following > 0 && unit.length == following + 1)) {
		unit.clean_length = is_dropped(bytes, unit.length) ? 0 : unit.length;
		return unit;
	}
	unit.truncated = following > 0 && unit.length == length;
	unit.clean = REPLACEMENT;
	unit.clean_length = strlen(REPLACEMENT);
	return unit;
}

static size_t clean_length(const unsigned char *bytes, size_t length)
{
	size_t total = 0;

	for (size_t at = 0; at < length;) {
		struct unit unit = decode(bytes + at, length - at);

		total += unit.clean_length;
		at += unit.length;
	}
	return total;
}

static void add(struct text *text, const char *bytes, size_t length)
{
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
}

/* Adds the first piece from its start, at most `most` clean bytes. Returns what it took. */
static size_t add_head(struct text *text, const struct view *view, size_t most)
{
	size_t at = 0, added = 0;

	while (at < view->gap_at) {
		struct unit unit = decode(view->bytes + at, view->gap_at - at);

		/* What the gap tore apart is not the writer's mistake: it is left out. */
		if (added + unit.clean_length > most || (unit.truncated && view->gap > 0))
			break;
		add(text, unit.clean, unit.clean_length);
		added += unit.clean_length;
		at += unit.length;
	}
	return at;
}

/* Where the longest end with at most `most` clean bytes begins, not before `from`. */
static size_t tail_start(const struct view *view, size_t from, size_t most)
{
	size_t at = from, left;

	if (view->gap > 0) {
		at = view->gap_at;
		/* At most three bytes of a code point that began inside the gap. */
		while (at < view->length && at < view->gap_at + 3 &&
			(view->bytes[at] & 0xc0) == 0x80)
			at++;
	}
	left = clean_length(view->bytes + at, view->length - at);
	while (left > most) {
		struct unit unit = decode(view->bytes + at, view->length - at);

		left -= unit.clean_length;
		at += unit.length;
	}
	return at;
}

static void add_from(struct text *text, const struct view *view, size_t at)
{
	while (at < view->length) {
		struct unit unit = decode(view->bytes + at, view->length - at);

		add(text, unit.clean, unit.clean_length);
		at += unit.length;
	}
}

/* Adds the view, whole or as head, mark and tail: at most `most` bytes. */
static void add_view(struct text *text, const struct view *view, size_t most)
{
	char mark[MARK_SIZE];
	size_t mark_length, used, start;

	if (view->gap == 0 && clean_length(view->bytes, view->length) <= most) {
		add_from(text, view, 0);
		return;
	}
	/* No number of bytes left out has more digits than that of all bytes. */
	mark_length = (size_t)snprintf(mark, sizeof(mark), MARK_FORMAT, view->length + view->gap);
	if (mark_length > most) {
		(void)add_head(text, view, most);
		return;
	}
	most -= mark_length;
	used = add_head(text, view, most / 2);
	start = tail_start(view, used, most - most / 2);
	mark_length = (size_t)snprintf(mark, sizeof(mark), MARK_FORMAT, start + view->gap - used);
	add(text, mark, mark_length);
	add_from(text, view, start);
}

/* Cuts newlines, blanks and dropped controls off the end; never reaches into a first piece. */
static void trim_view(struct view *view)
{
	size_t least = view->gap > 0 ? view->gap_at : 0;

	while (view->length > least &&
		(view->bytes[view->length - 1] <= ' ' || view->bytes[view->length - 1] == 0x7f))
		view->length--;
	if (view->gap == 0)
		view->gap_at = view->length;
}

static void trim_text(struct text *text)
{
	/* Again, since a dropped U+0080 may have hidden a blank. */
	while (text->length > 0 && (unsigned char)text->bytes[text->length - 1] <= ' ')
		text->length--;
	text->bytes[text->length] = '\0';
}

/* The captured bytes in order, in memory of `room` for at most 2 * OUTPUT_MAX bytes. */
static struct view view_output(const struct output *output, unsigned char *room)
{
	size_t kept = output->total - output->head_length;
	struct view view = {.bytes = room};

	if (output->head_length > 0)
		memcpy(room, output->head, output->head_length);
	room += output->head_length;
	if (kept > OUTPUT_MAX) {
		view.gap = kept - OUTPUT_MAX;
		kept = OUTPUT_MAX;
		memcpy(room, output->tail + output->tail_next, OUTPUT_MAX - output->tail_next);
		room += OUTPUT_MAX - output->tail_next;
		memcpy(room, output->tail, output->tail_next);
	} else if (kept > 0) {
		memcpy(room, output->tail, kept);
	}
	view.length = output->head_length + kept;
	view.gap_at = view.gap > 0 ? output->head_length : view.length;
	return view;
}

char *output_render(const struct output *output, const char *line)
{
	unsigned char room[2 * OUTPUT_MAX];
	struct view view = view_output(output, room);
	struct text text = {.bytes = xcalloc(OUTPUT_MAX + 1, 1)};
	char *ours = output_clean_line(
		line == NULL ? "" : line, line == NULL ? 0 : strlen(line), LINE_MOST);

	add(&text, ours, strlen(ours));
	free(ours);
	trim_view(&view);
	if (text.length > 0 && view.length > 0)
		add(&text, "\n", 1);
	add_view(&text, &view, OUTPUT_MAX - text.length);
	assert(text.length <= OUTPUT_MAX);
	trim_text(&text);
	/* A check keeps its text from run to run: most are a few bytes long. */
	return xrealloc(text.bytes, text.length + 1, 1);
}

char *output_clean_line(const char *bytes, size_t length, size_t most)
{
	struct view view = {
		.bytes = (const unsigned char *)bytes, .length = length, .gap_at = length};
	struct text text = {.bytes = xcalloc(most + 1, 1)};

	trim_view(&view);
	add_view(&text, &view, most);
	for (size_t i = 0; i < text.length; i++) {
		if (text.bytes[i] == '\n')
			text.bytes[i] = ' ';
	}
	trim_text(&text);
	return text.bytes;
}
