/* SPDX-License-Identifier: MIT */
/* config/suggest.h: which known word a mistyped one may have meant. */
#ifndef CONFIG_SUGGEST_H
#define CONFIG_SUGGEST_H

#include <stddef.h>

/*
 * A search in progress. A word qualifies when its distance (insertions, deletions,
 * replacements, swaps of neighbours) is at most a third of what was typed, but 1
 * always, or when what was typed is the beginning of this word alone.
 */
struct suggest {
	const char *typed; /* borrowed */
	const char *nearest; /* NULL so far */
	size_t distance; /* of nearest */
	const char *prefixed; /* the last word that begins with typed */
	unsigned int prefixed_count;
};

void suggest_init(struct suggest *suggest, const char *typed);
void suggest_try(struct suggest *suggest, const char *word); /* borrowed */

/* The best word, the first of equally good ones; NULL if none is near. */
const char *suggest_result(const struct suggest *suggest);

#endif
