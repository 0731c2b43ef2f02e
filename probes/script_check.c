// SPDX-License-Identifier: MIT
/* What a script's configuration must obey, and what is looked up once at load. */
#include "probes/script.h"

#include <errno.h>
#include <grp.h>
#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/child_tree.h"
#include "probes/safepath.h"

/* Where the complaint about a key points to; the short form has no keys. */
static struct conf_mark mark_of(const struct conf_node *node, const char *key)
{
	return node->type == CONF_MAPPING ? node_mark(node, key) : node->mark;
}

static bool set_argv(struct script_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	const char *name;

	if ((conf->command.count > 0) == (conf->shell != NULL))
		return conf_error(
			load, node, "a script needs exactly one of 'command' and 'shell'");
	if (conf->shell != NULL) {
		const char **argv = arena_alloc(load->arena, 4 * sizeof(*argv));

		if (*conf->shell == '\0')
			return conf_error_at(load, mark_of(node, "shell"), "'shell' is empty");
		argv[0] = "/bin/sh";
		argv[1] = "-c";
		argv[2] = conf->shell;
		conf->argv = (struct conf_strings){.items = argv, .count = 3};
		return true;
	}
	conf->argv = conf->command;
	name = conf->command.items[0];
	if (*name == '\0')
		return conf_error_at(load, mark_of(node, "command"), "the command is empty");
	if (*name != '/' && strchr(name, '/') != NULL)
		return conf_error_at(load, mark_of(node, "command"),
			"'%s' is relative; write an absolute path, or a bare name to look up in "
			"PATH",
			name);
	return true;
}

static bool is_number(const char *text)
{
	/* Nine digits fit into an id. */
	return *text != '\0' && strlen(text) <= 9 && text[strspn(text, "0123456789")] == '\0';
}

static void set_groups(struct script_conf *conf, struct conf_load *load)
{
	int count = 0;
	gid_t *groups;

	/* The first call only counts. */
	(void)getgrouplist(conf->login, conf->gid, NULL, &count);
	groups = arena_alloc(load->arena, (size_t)(count + 1) * sizeof(*groups));
	if (getgrouplist(conf->login, conf->gid, groups, &count) < 0)
		count = 0; /* changed between the calls: rather too few rights */
	conf->groups = groups;
	conf->group_count = (size_t)count;
}

static bool set_user(struct script_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	const struct passwd *entry;

	conf->uid = geteuid();
	conf->gid = getegid();
	errno = 0;
	if (conf->user == NULL)
		entry = getpwuid(conf->uid);
	else if (is_number(conf->user))
		entry = getpwuid((uid_t)strtoul(conf->user, NULL, 10));
	else
		entry = getpwnam(conf->user);
	if (entry == NULL && conf->user != NULL)
		return conf_error_at(load, mark_of(node, "user"), "there is no user '%s'",
			field_shown(conf->user));
	conf->home = entry == NULL ? "/" : arena_strdup(load->arena, entry->pw_dir);
	conf->login = entry == NULL ? arena_printf(load->arena, "%u", conf->uid)
				    : arena_strdup(load->arena, entry->pw_name);
	if (conf->user == NULL)
		return true;
	if (geteuid() != 0 && entry->pw_uid != geteuid())
		return conf_error_at(load, mark_of(node, "user"),
			"only root can run a script as another user; probity runs as user %u",
			geteuid());
	conf->uid = entry->pw_uid;
	conf->gid = entry->pw_gid;
	conf->set_ids = geteuid() == 0;
	return true;
}

static bool set_group(
	struct script_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	const struct group *entry;

	if (conf->group == NULL)
		return true;
	entry = is_number(conf->group) ? getgrgid((gid_t)strtoul(conf->group, NULL, 10))
				       : getgrnam(conf->group);
	if (entry == NULL)
		return conf_error_at(load, mark_of(node, "group"), "there is no group '%s'",
			field_shown(conf->group));
	if (geteuid() != 0 && entry->gr_gid != getegid())
		return conf_error_at(load, mark_of(node, "group"),
			"only root can run a script in another group; probity runs in group %u",
			getegid());
	conf->gid = entry->gr_gid;
	conf->set_ids = geteuid() == 0;
	return true;
}

static bool check_env(
	const struct script_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	for (size_t i = 0; i < conf->env.count; i++) {
		const char *name = conf->env.items[i].name;
		struct conf_mark mark = node_mark(node_get(node, "env"), name);

		if (*name == '\0' || strchr(name, '=') != NULL)
			return conf_error_at(
				load, mark, "'%s' cannot be the name of a variable", name);
		if (strncmp(name, TREE_RUN_NAME, strlen(TREE_RUN_NAME) - 1) == 0 &&
			strlen(name) == strlen(TREE_RUN_NAME) - 1)
			return conf_error_at(load, mark,
				"%s is set by probity, to know the processes of a run", name);
	}
	return true;
}

static bool check_limit(struct conf_load *load, struct conf_mark mark, int resource, double value)
{
	struct rlimit limit;

	if (value <= 0 || geteuid() == 0 || getrlimit((__rlimit_resource_t)resource, &limit) != 0 ||
		limit.rlim_max == RLIM_INFINITY || value <= (double)limit.rlim_max)
		return true;
	return conf_error_at(load, mark, "the limit is above probity's own, %llu",
		(unsigned long long)limit.rlim_max);
}

/* What is written wins over a default; two that are written must not contradict each other. */
static bool check_exits(
	struct script_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	bool is_map = node->type == CONF_MAPPING;
	bool passing_written = is_map && node_get(node, "passing_exit") != NULL;
	bool warning_written = is_map && node_get(node, "warning_exit") != NULL;

	return code_set_settle(&conf->passing_exit, passing_written, &conf->warning_exit,
		       warning_written) ||
		conf_error_at(load, node_mark(node, "warning_exit"),
			"an exit code stands in both 'passing_exit' and 'warning_exit'");
}

/* setrlimit(2) counts whole seconds. */
static bool check_cpu(
	const struct script_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	return fmod(conf->limits.cpu, 1) <= 0 ||
		conf_error_at(load, node_mark(node_get(node, "limits"), "cpu"),
			"a limit on CPU time is in whole seconds, such as %.0fs",
			ceil(conf->limits.cpu));
}

static bool check_limits(
	const struct script_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	struct conf_mark mark = mark_of(node, "limits");

	return check_limit(load, mark, RLIMIT_AS, conf->limits.memory) &&
		check_limit(load, mark, RLIMIT_NPROC, conf->limits.processes) &&
		check_limit(load, mark, RLIMIT_NOFILE, conf->limits.descriptors) &&
		check_limit(load, mark, RLIMIT_FSIZE, conf->limits.file_size) &&
		check_limit(
			load, mark, RLIMIT_CPU, conf->limits.cpu > 0 ? conf->limits.cpu + 1 : 0);
}

/* Said at load where it can be; each run looks again. */
static bool check_path(
	const struct script_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	const struct safepath_policy policy = {.user = conf->uid};
	char *complaint = NULL;
	bool safe = true;

	if (geteuid() != 0 || *conf->argv.items[0] != '/')
		return true;
	if (safepath_check(conf->argv.items[0], &policy, &complaint) == SAFEPATH_UNSAFE)
		safe = conf_error_at(load, mark_of(node, conf->shell == NULL ? "command" : "shell"),
			"unsafe permissions: %s: others could change what is run as user %u",
			complaint, conf->uid);
	free(complaint);
	return safe;
}

bool script_check_limit(void *conf, const struct conf_node *node, struct conf_load *load)
{
	const struct script_limit *limit = conf;

	if (*limit->name == '\0')
		return conf_error(load, node, "a value needs a name");
	return limit->warning.text != NULL || limit->critical.text != NULL ||
		conf_error(load, node, "'%s' has no limit; write {warning: 4, critical: 8}",
			limit->name);
}

bool script_check(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct script_conf *script = conf;
	bool fine = set_argv(script, node, load);

	/* All of them, so that all problems are told at once. */
	fine = set_user(script, node, load) && set_group(script, node, load) && fine;
	fine = check_env(script, node, load) && fine;
	fine = check_cpu(script, node, load) && fine;
	fine = check_limits(script, node, load) && fine;
	fine = check_exits(script, node, load) && fine;
	if (!fine)
		return false;
	if (script->set_ids)
		set_groups(script, load);
	return check_path(script, node, load);
}
