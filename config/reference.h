/* SPDX-License-Identifier: MIT */
/* config/reference.h: rows as Markdown, for people. */
#ifndef CONFIG_REFERENCE_H
#define CONFIG_REFERENCE_H

#include <stdio.h>

#include "config/field.h"

/*
 * Prints every key of the rows, with those of the maps below it; each alternative
 * of a conf_oneof has a section of its own behind, "## name", with its example. A
 * map that stands in several places is printed once and named at the others.
 */
void reference_print(const struct conf_field *fields, FILE *stream);

#endif
