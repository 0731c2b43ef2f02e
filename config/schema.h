/* SPDX-License-Identifier: MIT */
/* config/schema.h: rows as one JSON Schema document. */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

#include "config/field.h"

/*
 * The schema of the rows, draft 7 (which the YAML language server reads best), whose
 * parts that would stand in several places stand under "definitions". The caller owns it.
 */
json_t *schema_document(const struct conf_field *fields, const char *title);

#endif
