// SPDX-License-Identifier: MIT
/* The environment of a script, built from nothing, and the way to its executable. */
#include "probes/script.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/secret.h"

/* What root's login gets on Debian: login.defs(5), ENV_SUPATH. */
#define STANDARD_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define STANDARD_COUNT 5 /* PATH, LANG, HOME, USER, LOGNAME */

static const char *find(char *const *env, const char *name)
{
	size_t length = strlen(name);

	for (; *env != NULL; env++) {
		if (strncmp(*env, name, length) == 0 && (*env)[length] == '=')
			return *env + length + 1;
	}
	return NULL;
}

static void add_standard(char **env, size_t *count, const char *name, const char *value)
{
	if (find(env, name) == NULL)
		env[(*count)++] = xprintf("%s=%s", name, value);
}

char **script_env(const struct script_conf *conf, char **ret_error)
{
	char **env = xcalloc(conf->env.count + STANDARD_COUNT + 1, sizeof(*env));
	size_t count = 0;

	for (size_t i = 0; i < conf->env.count; i++) {
		const struct conf_pair *pair = &conf->env.items[i];
		char *error = NULL;
		char *value = secret_read(&pair->value, &error);

		if (error != NULL) {
			script_env_free(env);
			*ret_error = error;
			return NULL;
		}
		env[count++] = xprintf("%s=%s", pair->name, value == NULL ? "" : value);
		secret_free(value);
	}
	add_standard(env, &count, "PATH", STANDARD_PATH);
	add_standard(env, &count, "LANG", "C.UTF-8");
	add_standard(env, &count, "HOME", conf->home);
	add_standard(env, &count, "USER", conf->login);
	add_standard(env, &count, "LOGNAME", conf->login);
	return env;
}

void script_env_free(char **env)
{
	if (env == NULL)
		return;
	for (size_t i = 0; env[i] != NULL; i++)
		secret_free(env[i]);
	free(env);
}

static bool is_file(const char *path, bool executable)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
		(!executable || (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0);
}

/* A file of that name in a directory of the list, or NULL. free(). */
static char *find_in(const char *list, const char *name, bool executable)
{
	while (*list != '\0') {
		size_t length = strcspn(list, ":");

		/* An empty or relative entry means the current directory: anybody's. */
		if (*list == '/') {
			char *path = xprintf("%.*s/%s", (int)length, list, name);

			if (is_file(path, executable))
				return path;
			free(path);
		}
		list += length;
		list += strspn(list, ":");
	}
	return NULL;
}

char *script_path(const char *command, char *const *env)
{
	const char *list = find(env, "PATH");
	char *path = NULL;

	if (strchr(command, '/') == NULL && list != NULL) {
		path = find_in(list, command, true);
		/* One that lacks the x bit explains itself better than "no such file". */
		if (path == NULL)
			path = find_in(list, command, false);
	}
	return path == NULL ? xstrdup(command) : path;
}
