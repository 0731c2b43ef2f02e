/* SPDX-License-Identifier: MIT */
/* config/lint.h: what a table of rows must obey; for tests. */
#ifndef CONFIG_LINT_H
#define CONFIG_LINT_H

#include "config/field.h"

/*
 * Looks at all rows, and at those of the maps, lists and variants below. size is
 * that of the struct they fill, 0 if only the table's owner knows it. Writes a line per
 * complaint; returns their number.
 */
size_t lint_table(const char *name, const struct conf_field *fields, size_t size, FILE *complaints);

#endif
