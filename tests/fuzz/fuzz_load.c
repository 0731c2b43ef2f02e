// SPDX-License-Identifier: MIT
/* Any bytes as a configuration: it loads or says why, and what it prints loads as the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "runner/settings.h"

/* More than what the top-level rows fill, which settings.c alone knows. */
struct root {
	_Alignas(max_align_t) unsigned char bytes[4096];
};

/* The same on every machine. */
static const char *environment(const char *name)
{
	return strcmp(name, "HOME") == 0 ? "/root" : strcmp(name, "TOKEN") == 0 ? "a$b" : NULL;
}

struct loaded {
	struct conf_load load;
	struct root *root;
	bool fine;
};

static struct loaded load(const char *bytes, size_t length)
{
	struct loaded loaded = {
		.load = {.arena = arena_create(), .diag = diag_create(), .getenv = environment},
	};
	const struct conf_node *tree =
		node_parse(loaded.load.arena, "f", bytes, length, loaded.load.diag);

	loaded.root = arena_alloc(loaded.load.arena, sizeof(*loaded.root));
	if (tree != NULL) {
		bool filled;

		loaded.load.user = node_get(tree, "defaults");
		filled = field_load(&loaded.load, settings_fields, tree, NULL, loaded.root);
		loaded.fine = filled && diag_errors(loaded.load.diag) == 0;
		/* Whoever returns false must have said why. */
		FUZZ_HOLDS(filled || diag_errors(loaded.load.diag) > 0);
	} else {
		FUZZ_HOLDS(diag_errors(loaded.load.diag) > 0);
	}
	return loaded;
}

static void finish(struct loaded *loaded)
{
	diag_destroy(loaded->load.diag);
	arena_destroy(loaded->load.arena);
}

/* Every problem has a text and a place that is in the file. */
static void check_problems(const struct loaded *loaded, const uint8_t *bytes, size_t length)
{
	const struct conf_problem *problem;
	/* A file's last line need not end; libyaml counts more line breaks than '\n'. */
	size_t lines = 2 + length;

	(void)bytes;
	for (size_t i = 0; (problem = diag_at(loaded->load.diag, i)) != NULL; i++) {
		FUZZ_HOLDS(*problem->text != '\0');
		FUZZ_HOLDS(strcmp(problem->mark.file, "f") == 0);
		FUZZ_HOLDS(problem->mark.line <= lines);
		FUZZ_HOLDS((problem->mark.line == 0) == (problem->mark.column == 0));
	}
}

static void check_dump(const struct loaded *loaded)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	struct loaded again;

	FUZZ_HOLDS(stream != NULL);
	field_print(settings_fields, loaded->root, 0, stream);
	FUZZ_HOLDS(fclose(stream) == 0);
	/* What is hidden, and defaults, which are printed with the checks, cannot come back. */
	if (strstr(text, "***") == NULL && strstr(text, "?…") == NULL && length < 500000) {
		again = load(text, length);
		if (!again.fine)
			diag_print(again.load.diag, stderr);
		FUZZ_HOLDS(again.fine);
		FUZZ_HOLDS(field_equal(settings_fields, loaded->root, again.root));
		finish(&again);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct loaded loaded = load((const char *)bytes, length);

	check_problems(&loaded, bytes, length);
	if (loaded.fine) {
		FUZZ_HOLDS(field_equal(settings_fields, loaded.root, loaded.root));
		check_dump(&loaded);
	}
	finish(&loaded);
	return 0;
}
