/* SPDX-License-Identifier: MIT */
/* runner/table.h: aligned columns on a terminal or in a file. */
#ifndef RUNNER_TABLE_H
#define RUNNER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "probes/outcome.h"

#define TABLE_COLUMNS 8 /* most */

struct table;

/* titles: NULL-terminated, at most TABLE_COLUMNS, borrowed. */
struct table *table_create(const char *const *titles);
void table_destroy(struct table *table); /* accepts NULL */

/*
 * Adds a row of as many cells as there are titles; copied. NULL is an empty cell; a
 * control character becomes a blank.
 */
void table_add(struct table *table, const char *const *cells);

/* A line of its own below the last row, indented. Copied. */
void table_add_note(struct table *table, const char *text);

/*
 * Prints with columns as wide as their widest cell (the last one is left ragged, and
 * cut at the width of a terminal). Cells that are a status name are coloured if
 * `colour` is set.
 */
void table_print(const struct table *table, bool colour, FILE *stream);

/* True for a terminal, unless NO_COLOR is set or TERM is dumb. */
bool table_wants_colour(FILE *stream);

/* "3.2s", "45ms", "2m05s", "3h12m", "4d02h", "-" for a negative number; for people. */
void table_duration(double seconds, char *text, size_t size);

#endif
