/* SPDX-License-Identifier: MIT */
/* tests/unit/no_loader.h: what a kind calls while it reads a file, for tests that read none. */
#ifndef TESTS_UNIT_NO_LOADER_H
#define TESTS_UNIT_NO_LOADER_H

#include "config/kind.h"

bool field_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct conf_text *ret_text)
{
	(void)load;
	(void)field;
	(void)node;
	(void)ret_text;
	return false;
}

bool conf_error(struct conf_load *load, const struct conf_node *node, const char *format, ...)
{
	(void)load;
	(void)node;
	(void)format;
	return false;
}

#endif
