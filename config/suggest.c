// SPDX-License-Identifier: MIT
/* Edit distance, for "did you mean". */
#include "config/suggest.h"

#include <string.h>

/* Our longest key has 24 letters; a longer word is no slip of one, and rows stay on the stack. */
#define LONGEST 40

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Both at most LONGEST long. A swap of two neighbours is one step, as it is one slip. */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][LONGEST + 1];
	size_t *two_ago = rows[0], *last = rows[1], *row = rows[2];
	size_t length = strlen(b);

	memset(rows, 0, sizeof(rows));
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		size_t *spare = two_ago;

		two_ago = last;
		last = row;
		row = spare;
		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			row[j] = least(least(last[j] + 1, row[j - 1] + 1),
				last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], two_ago[j - 2] + 1);
		}
	}
	return row[length];
}

void suggest_init(struct suggest *suggest, const char *typed)
{
	*suggest = (struct suggest){.typed = typed};
}

void suggest_try(struct suggest *suggest, const char *word)
{
	size_t length = strlen(suggest->typed);
	size_t most = length / 3 < 1 ? 1 : length / 3;
	size_t steps;

	if (length == 0 || length > LONGEST || strlen(word) > LONGEST)
		return;
	if (strncmp(word, suggest->typed, length) == 0) {
		suggest->prefixed = word;
		suggest->prefixed_count++;
	}
	steps = distance(suggest->typed, word);
	/* One step in a word of one letter leaves nothing of it. */
	if (steps > most || steps >= length)
		return;
	if (suggest->nearest == NULL || steps < suggest->distance) {
		suggest->nearest = word;
		suggest->distance = steps;
	}
}

const char *suggest_result(const struct suggest *suggest)
{
	if (suggest->nearest != NULL)
		return suggest->nearest;
	return suggest->prefixed_count == 1 ? suggest->prefixed : NULL;
}
