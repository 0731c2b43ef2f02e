// SPDX-License-Identifier: MIT
/* The rows of a redis probe, the rules between them, and the session that follows from them. */
#include "probes/redis_conf.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/arena.h"
#include "probes/dial.h"

static const char *const roles[] = {
	[REDIS_ROLE_ANY] = "any",
	[REDIS_ROLE_MASTER] = "master",
	[REDIS_ROLE_REPLICA] = "replica",
	NULL,
};

static const char *const clusters[] = {
	[REDIS_CLUSTER_ANY] = "any",
	[REDIS_CLUSTER_OK] = "ok",
	NULL,
};

static const char *const families[] = {
	[DIAL_ANY] = "any",
	[DIAL_V4] = "v4",
	[DIAL_V6] = "v6",
	NULL,
};

static const struct conf_field value_fields[] = {
	LIMIT_RANGE(struct redis_value_conf, warning,
		.help = "Range whose numbers are fine, as in `values` of a script; outside it the "
			"run is a warning"),
	LIMIT_RANGE(struct redis_value_conf, critical,
		.help = "The same; outside it the run is critical"),
	{0},
};

const struct conf_field redis_fields[] = {
	CONF_ADDRESS(struct redis_conf, address, .flags = CONF_REQUIRED,
		.help = "HOST:PORT to connect to, or unix:///PATH"),
	CONF_CHOICE(struct redis_conf, ip, .choices = families, .fallback = "any",
		.help = "Which addresses of a name are tried"),
	CONF_MAP_IF(struct redis_conf, tls, tls_conf, tls_fields,
		.help = "TLS from the start; `tls: {}` for the system's authorities"),
	CONF_STRING(struct redis_conf, user,
		.help = "User to log in as (ACL); the default user if left out"),
	CONF_SECRET(struct redis_conf, password,
		.help = "Password to log in with; as {file: PATH} it is read before each run"),
	CONF_COUNT(struct redis_conf, db, .fallback = "0", .max = 1000000,
		.help = "Number of the database that the command is run in"),
	CONF_STRINGS(struct redis_conf, command,
		.help = "Command and its arguments; PING if left out, which has to be answered "
			"with PONG. An error reply is critical, as is one that is nil"),
	MATCH_PATTERN(struct redis_conf, expect,
		.help = "Regular expression that the reply must match as text; an array has a "
			"line for each element"),
	MATCH_PATTERN(struct redis_conf, reject,
		.help = "Regular expression that the reply must not match"),
	CONF_MAP(struct redis_conf, value, redis_value_conf, value_fields,
		.help = "Limits on a reply that is a number; any other reply is critical then"),
	CONF_CHOICE(struct redis_conf, role, .choices = roles, .fallback = "any",
		.help = "Role that the server must have"),
	TIME_LIMITS(struct redis_conf, max_lag, .shorthand = "critical",
		.help = "Limits on the time since the last exchange with the master; a replica "
			"without a link to its master is critical then. One duration is short for "
			"critical"),
	CONF_CHOICE(struct redis_conf, cluster, .choices = clusters, .fallback = "any",
		.help = "With ok, the cluster must be ok in the eyes of this node"),
	CONF_STRING(struct redis_conf, sentinel,
		.help = "Name of a master that the Sentinel at this address must see up, with "
			"enough other Sentinels for a failover"),
	{0},
};

static struct conf_mark mark_of(const struct conf_node *node, const char *key)
{
	return node->type == CONF_MAPPING ? node_mark(node, key) : node->mark;
}

bool redis_wants_lag(const struct redis_conf *conf)
{
	return conf->max_lag.note > 0 || conf->max_lag.warning > 0 || conf->max_lag.critical > 0;
}

static bool check_login(
	const struct redis_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	if (conf->user == NULL || conf->password.value != NULL || conf->password.file != NULL)
		return true;
	return conf_error_at(load, mark_of(node, "user"),
		"'user' needs a 'password'; for a user without one any text will do");
}

static bool check_command(
	struct redis_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	const struct conf_strings *command = &conf->command;
	bool asserted = conf->expect != NULL || conf->reject != NULL ||
		conf->value.warning.text != NULL || conf->value.critical.text != NULL;
	const char *problem;

	conf->ping = !asserted &&
		(command->count == 0 ||
			(command->count == 1 && strcasecmp(command->items[0], "ping") == 0));
	if (command->count == 0)
		return true;
	if (*command->items[0] == '\0')
		return conf_error_at(load, mark_of(node, "command"), "the command is empty");
	problem = redis_command_problem(command);
	if (problem != NULL)
		return conf_error_at(load, mark_of(node, "command"), "%s %s",
			field_shown(command->items[0]), problem);
	if (!asserted && !conf->ping)
		return conf_error_at(load, mark_of(node, "command"),
			"a command needs 'expect', 'reject' or 'value': which reply is a good "
			"one?");
	return true;
}

/* What the server cannot be at the same time. */
static bool check_kind(
	const struct redis_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	bool lag = redis_wants_lag(conf);

	if (conf->sentinel != NULL &&
		(conf->role != REDIS_ROLE_ANY || lag || conf->cluster != REDIS_CLUSTER_ANY ||
			conf->db > 0))
		return conf_error_at(load, mark_of(node, "sentinel"),
			"a Sentinel has no 'role', 'max_lag', 'cluster' and 'db'");
	if (lag && conf->role == REDIS_ROLE_MASTER)
		return conf_error_at(load, mark_of(node, "max_lag"),
			"a master lags behind nobody; write role: replica");
	if (conf->cluster != REDIS_CLUSTER_ANY && conf->db > 0)
		return conf_error_at(load, mark_of(node, "db"), "a cluster has database 0 only");
	return true;
}

/* What may be said of the command: its name, unless that came from the environment. */
static const char *label_of(const struct conf_strings *command, struct arena *arena)
{
	const char *name = command->count == 0 ? "PING" : field_shown(command->items[0]);
	char *label;

	if (command->count > 0 && name != command->items[0])
		return "the command";
	label = arena_strdup(arena, name);
	/* The same in any locale. */
	for (char *at = label; *at != '\0'; at++) {
		if (*at >= 'a' && *at <= 'z')
			*at = (char)(*at - 'a' + 'A');
	}
	return label;
}

static void add_step(struct redis_conf *conf, enum redis_step_kind kind, const char *label,
	const char *const *argv, size_t argc)
{
	conf->steps[conf->step_count++] =
		(struct redis_step){.kind = kind, .label = label, .argv = argv, .argc = argc};
}

/* A step of fixed words and, where it is not NULL, one more. */
static void add_words(struct redis_conf *conf, enum redis_step_kind kind, const char *label,
	const char *word, struct arena *arena)
{
	const char **argv = arena_alloc(arena, 4 * sizeof(*argv));
	char *words = arena_strdup(arena, label), *rest = words;
	size_t argc = 0;

	while (rest != NULL)
		argv[argc++] = strsep(&rest, " ");
	if (word != NULL)
		argv[argc++] = word;
	add_step(conf, kind, label, argv, argc);
}

static void set_steps(struct redis_conf *conf, struct arena *arena)
{
	static const char *const ping[] = {"PING", NULL};
	bool given = conf->command.count > 0;

	if (conf->password.value != NULL || conf->password.file != NULL)
		add_words(conf, REDIS_AUTH, "AUTH", conf->user, arena);
	if (conf->db > 0)
		add_words(conf, REDIS_SELECT, "SELECT", arena_printf(arena, "%u", conf->db), arena);
	if (conf->role != REDIS_ROLE_ANY || redis_wants_lag(conf))
		add_words(conf, REDIS_REPLICATION, "INFO replication", NULL, arena);
	if (conf->cluster == REDIS_CLUSTER_OK)
		add_words(conf, REDIS_CLUSTER, "CLUSTER INFO", NULL, arena);
	if (conf->sentinel != NULL) {
		add_words(conf, REDIS_SENTINEL, "SENTINEL MASTER", conf->sentinel, arena);
		add_words(conf, REDIS_QUORUM, "SENTINEL CKQUORUM", conf->sentinel, arena);
	}
	add_step(conf, REDIS_COMMAND, label_of(&conf->command, arena),
		given ? conf->command.items : ping, given ? conf->command.count : 1);
}

static void hide(struct redis_conf *conf, const char **hidden, const char *text)
{
	if (text != NULL && field_shown(text) != text)
		hidden[conf->hidden.count++] = text;
}

/* Servers quote what they do not understand, or do not allow. */
static void set_hidden(struct redis_conf *conf, struct arena *arena)
{
	const char **hidden = arena_alloc(arena, (conf->command.count + 3) * sizeof(*hidden));

	conf->hidden.items = hidden;
	hide(conf, hidden, conf->user);
	hide(conf, hidden, conf->sentinel);
	for (size_t i = 0; i < conf->command.count; i++)
		hide(conf, hidden, conf->command.items[i]);
}

bool redis_check(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct redis_conf *redis = conf;
	bool fine = check_login(redis, node, load);

	fine = check_command(redis, node, load) && fine;
	fine = check_kind(redis, node, load) && fine;
	set_steps(redis, load->arena);
	set_hidden(redis, load->arena);
	if (redis->tls != NULL)
		fine = tls_conf_place(redis->tls, &redis->address, node, load) && fine;
	return fine;
}
