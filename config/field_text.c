// SPDX-License-Identifier: MIT
/* Scalars as text: ${NAME} from the environment, and what messages may show of it. */
#include <string.h>

#include "config/field_private.h"

#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

/* Both forms of the text while it grows. */
struct expansion {
	struct conf_load *load;
	const struct conf_node *node;
	char *text, *shown;
};

static void add(struct expansion *expansion, const char *text, const char *shown, size_t length,
	size_t shown_length)
{
	struct arena *arena = expansion->load->arena;

	expansion->text = arena_printf(arena, "%s%.*s", expansion->text, (int)length, text);
	expansion->shown =
		arena_printf(arena, "%s%.*s", expansion->shown, (int)shown_length, shown);
}

/* Takes "${NAME}" at `at`. Returns what follows it, or NULL after a report. */
static const char *expand_one(struct expansion *expansion, const char *at)
{
	struct conf_load *load = expansion->load;
	const char *name = at + 2;
	size_t length = strspn(name, NAME_CHARACTERS);
	const char *value;
	char *copy;

	if (length == 0 || name[length] != '}') {
		(void)conf_error(load, expansion->node,
			"'${' begins the name of an environment variable and needs a '}'; write "
			"'$$' for a dollar");
		return NULL;
	}
	copy = arena_strndup(load->arena, name, length);
	value = load->getenv == NULL ? NULL : load->getenv(copy);
	if (value == NULL) {
		(void)conf_error(load, expansion->node,
			"environment variable '%s' is not set; set it, or write '$$' for a dollar",
			copy);
		return NULL;
	}
	add(expansion, value, "***", strlen(value), 3);
	return name + length + 1;
}

static bool expand(struct expansion *expansion)
{
	const char *next = expansion->node->text;

	while (*next != '\0') {
		size_t plain = strcspn(next, "$");

		add(expansion, next, next, plain, plain);
		next += plain;
		if (next[0] == '$' && next[1] == '{') {
			next = expand_one(expansion, next);
			if (next == NULL)
				return false;
		} else if (next[0] == '$') { /* "$$" is a dollar, and so is a lone one */
			add(expansion, "$", "$", 1, 1);
			next += next[1] == '$' ? 2 : 1;
		}
	}
	return true;
}

bool field_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct conf_text *ret_text)
{
	struct expansion expansion = {.load = load, .node = node, .text = "", .shown = ""};

	if (node->type != CONF_SCALAR)
		return conf_error(load, node, "%s is wanted here, not a %s", field->kind->name,
			node->type == CONF_MAPPING ? "map" : "list");
	if (node->plain && node->length == 0)
		return conf_error(
			load, node, "%s is wanted here; a key needs a value", field->kind->name);
	if ((field->flags & CONF_VERBATIM) != 0 || strchr(node->text, '$') == NULL) {
		ret_text->text = ret_text->shown = node->text;
		return true;
	}
	if (!expand(&expansion))
		return false;
	ret_text->text = expansion.text;
	ret_text->shown = expansion.shown;
	return true;
}
