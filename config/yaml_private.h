/* SPDX-License-Identifier: MIT */
/* config/yaml_private.h: what the files of the YAML reader share. */
#ifndef CONFIG_YAML_PRIVATE_H
#define CONFIG_YAML_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#include "config/yaml.h"

/* Refuses what is not clean UTF-8, at its place; libyaml would give a byte offset only. */
bool yaml_bytes_are_text(
	const char *file, const char *bytes, size_t length, struct conf_diag *diag);

/* The same for a text that came from elsewhere, without a report. */
bool yaml_is_text(const char *text);

/*
 * Sets node's entries from keys and values, which alternate: `<<` merged, each key
 * once. A key that stands twice is reported; the first one is kept.
 */
void yaml_fill_mapping(struct arena *arena, struct conf_diag *diag, struct conf_node *node,
	struct conf_node *const *pairs, size_t count);

/* Reports what stopped libyaml. bytes are what it read. */
void yaml_report_syntax(const char *file, const char *bytes, size_t length,
	const yaml_parser_t *parser, struct conf_diag *diag);

#endif
