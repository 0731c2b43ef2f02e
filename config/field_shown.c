// SPDX-License-Identifier: MIT
/* Which texts hold something from the environment, and what may be shown of them. */
#include <stdint.h>

#include "config/field_private.h"

/* Buckets for expanded texts: a file has a few, and 10,000 are found soon enough to print. */
#define SECRET_BUCKETS 256

/*
 * A text that holds something from the environment, while its arena lives. The table
 * belongs to the process: whoever prints a member has its text and nothing else, and
 * must still not show it.
 */
struct expanded {
	struct expanded *next, **previous; /* of its bucket */
	const char *text, *shown;
};

static struct expanded *secrets[SECRET_BUCKETS];

static struct expanded **bucket_of(const char *text)
{
	/* The arena aligns to 16 bytes: the lowest bits are always the same. */
	return &secrets[((uintptr_t)text >> 4) % SECRET_BUCKETS];
}

static void forget(void *object)
{
	struct expanded *expanded = object;

	*expanded->previous = expanded->next;
	if (expanded->next != NULL)
		expanded->next->previous = expanded->previous;
}

void field_hide(struct arena *arena, const char *text, const char *shown)
{
	struct expanded *expanded = arena_alloc(arena, sizeof(*expanded));
	struct expanded **bucket = bucket_of(text);

	*expanded = (struct expanded){
		.next = *bucket, .previous = bucket, .text = text, .shown = shown};
	if (*bucket != NULL)
		(*bucket)->previous = &expanded->next;
	*bucket = expanded;
	arena_defer(arena, forget, expanded);
}

const char *field_shown(const char *text)
{
	for (const struct expanded *expanded = *bucket_of(text); expanded != NULL;
		expanded = expanded->next) {
		if (expanded->text == text)
			return expanded->shown;
	}
	return text;
}
