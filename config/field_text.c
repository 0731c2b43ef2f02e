// SPDX-License-Identifier: MIT
/* Scalars as text: ${NAME} from the environment, and what messages may show of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/field_private.h"
#include "config/yaml_private.h"

#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

/* The value of a variable; NULL, reported, if it cannot be used. */
static const char *look_up(struct conf_load *load, const struct conf_node *node, const char *name)
{
	const char *value = load->getenv == NULL ? NULL : load->getenv(name);

	if (value == NULL) {
		(void)conf_error(load, node,
			"environment variable '%s' is not set; set it, or write '$$' for a dollar",
			name);
		return NULL;
	}
	if (!yaml_is_text(value)) {
		(void)conf_error(load, node,
			"environment variable '%s' holds bytes that are not UTF-8 text", name);
		return NULL;
	}
	load->expanded += strlen(value);
	if (load->expanded > CONF_MAX_BYTES) {
		(void)conf_error(load, node, "more than %zu KiB come from environment variables",
			CONF_MAX_BYTES / 1024);
		return NULL;
	}
	return value;
}

/* Both forms of the text while they grow. */
struct expansion {
	FILE *text, *shown;
	bool secret; /* something came from the environment */
};

/* Takes "${NAME}" at `at`. Returns what follows it, or NULL after a report. */
static const char *expand_one(struct conf_load *load, const struct conf_node *node,
	struct expansion *expansion, const char *at)
{
	const char *name = at + 2;
	size_t length = strspn(name, NAME_CHARACTERS);
	const char *value;

	if (length == 0 || name[length] != '}') {
		(void)conf_error(load, node,
			"'${' begins the name of an environment variable and needs a '}'; write "
			"'$$' for a dollar");
		return NULL;
	}
	value = look_up(load, node, arena_strndup(load->arena, name, length));
	if (value == NULL)
		return NULL;
	(void)fputs(value, expansion->text);
	(void)fputs("***", expansion->shown);
	expansion->secret = true;
	return name + length + 1;
}

static bool expand(
	struct conf_load *load, const struct conf_node *node, struct expansion *expansion)
{
	const char *next = node->text;

	while (*next != '\0') {
		size_t length = strcspn(next, "$");

		if (length == 0 && next[1] == '{') {
			next = expand_one(load, node, expansion, next);
			if (next == NULL)
				return false;
			continue;
		}
		/* "$$" is a dollar, and so is a lone one: '^ok$' means what it says. */
		if (length == 0)
			length = 1;
		(void)fwrite(next, 1, length, expansion->text);
		(void)fwrite(next, 1, length, expansion->shown);
		next += length + (next[0] == '$' && next[1] == '$');
	}
	return true;
}

static bool expand_text(
	struct conf_load *load, const struct conf_node *node, struct conf_text *ret_text)
{
	char *text = NULL, *shown = NULL;
	size_t text_length = 0, shown_length = 0;
	struct expansion expansion = {
		.text = open_memstream(&text, &text_length),
		.shown = open_memstream(&shown, &shown_length),
	};
	bool fine;

	if (expansion.text == NULL || expansion.shown == NULL)
		xfail();
	fine = expand(load, node, &expansion);
	/* A stream in memory fails only where memory is out. */
	if (fclose(expansion.text) != 0 || fclose(expansion.shown) != 0)
		xfail();
	if (fine) {
		ret_text->text = arena_strndup(load->arena, text, text_length);
		ret_text->shown = arena_strndup(load->arena, shown, shown_length);
		if (expansion.secret)
			field_hide(load->arena, ret_text->text, ret_text->shown);
	}
	free(text);
	free(shown);
	return fine;
}

bool field_is_nothing(const struct conf_node *node)
{
	return node->type == CONF_SCALAR && node->plain &&
		(node->length == 0 || strcmp(node->text, "~") == 0);
}

bool field_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct conf_text *ret_text)
{
	if (node->type != CONF_SCALAR)
		return conf_error(load, node, "'%s' wants %s, not a %s", field->key,
			field->kind->name, node->type == CONF_MAPPING ? "map" : "list");
	if (field_is_nothing(node))
		return conf_error(load, node, "'%s' has no value; leave it out, or give it %s",
			field->key, field->kind->name);
	if ((field->flags & CONF_VERBATIM) == 0 && strchr(node->text, '$') != NULL)
		return expand_text(load, node, ret_text);
	ret_text->text = ret_text->shown = node->text;
	return true;
}
