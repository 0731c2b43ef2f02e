// SPDX-License-Identifier: MIT
/* Which files of a folder are its configuration. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runner/settings_parts.h"

/* A host has some tens of services; a thousand files are a mistake, such as a folder of logs. */
#define MOST_FILES 1000

static bool ends_with(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);

	return length > end && strcmp(name + length - end, suffix) == 0;
}

static int is_configuration(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
		(ends_with(entry->d_name, ".yaml") || ends_with(entry->d_name, ".yml"));
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

size_t settings_list_folder(
	struct arena *arena, const char *folder, struct conf_diag *diag, char ***ret_paths)
{
	struct conf_mark mark = {.file = folder};
	struct dirent **entries = NULL;
	int found = scandir(folder, &entries, is_configuration, compare_names);
	size_t length = strlen(folder), count = 0;

	while (length > 1 && folder[length - 1] == '/')
		length--;
	*ret_paths = arena_alloc(arena, ((size_t)(found < 0 ? 0 : found) + 1) * sizeof(char *));
	if (found < 0)
		diag_add(diag, mark, CONF_ERROR, "cannot be read: %s", strerror(errno));
	for (int i = 0; i < found; i++) {
		char *path =
			arena_printf(arena, "%.*s/%s", (int)length, folder, entries[i]->d_name);

		if (ends_with(path, ".yaml"))
			(*ret_paths)[count++] = path;
		else
			diag_add(diag, (struct conf_mark){.file = path}, CONF_WARNING,
				"is not read; only *.yaml is");
		free(entries[i]);
	}
	free(entries);
	if (found >= 0 && count == 0)
		diag_add(diag, mark, CONF_ERROR, "no *.yaml file is in it");
	if (count > MOST_FILES)
		diag_add(diag, mark, CONF_ERROR, "%zu *.yaml files; at most %d can be read", count,
			MOST_FILES);
	return count > MOST_FILES ? 0 : count;
}
