/* SPDX-License-Identifier: MIT */
/* probes/script.h: the configuration of a script between script*.c, for nobody else. */
#ifndef PROBES_SCRIPT_H
#define PROBES_SCRIPT_H

#include <sys/types.h>

#include "config/field.h"
#include "probes/child.h"
#include "probes/code_set.h"
#include "probes/limits.h"
#include "probes/measures.h"
#include "probes/outcome.h"

struct script_limits { /* 0: as probity's own */
	double memory, file_size; /* bytes, of address space and of one file */
	unsigned int processes; /* of the script's user, all together */
	unsigned int descriptors;
	double cpu; /* s, whole */
};

struct script_limit { /* of one value in the performance data */
	const char *name; /* its label */
	struct limit_range warning, critical;
};

struct script_conf {
	struct conf_strings command;
	const char *shell;
	const char *user, *group;
	const char *cwd;
	struct conf_pairs env;
	struct conf_secret stdin; /* a macro of that name stands for itself: stdin(3) */
	unsigned int umask;
	int nice; /* CONF_NO_INTEGER: as probity */
	double kill_grace; /* s */
	bool no_new_privs;
	struct script_limits limits;
	struct code_set passing_exit, warning_exit;
	struct conf_items values; /* struct script_limit */

	/* Derived. */
	struct conf_strings argv;
	bool set_ids;
	uid_t uid; /* whom it runs as, changed or not */
	gid_t gid;
	const gid_t *groups;
	size_t group_count;
	const char *home, *login;
};

/* The rules between the keys, and what is derived; see conf_variant.check. */
bool script_check(void *conf, const struct conf_node *node, struct conf_load *load);

/* The same for one entry of `values`. */
bool script_check_limit(void *conf, const struct conf_node *node, struct conf_load *load);

/*
 * What the script finds in its environment, NULL-terminated; script_env_free() wipes it.
 * NULL where a secret cannot be read: *ret_error says which (free()).
 */
char **script_env(const struct script_conf *conf, char **ret_error);
void script_env_free(char **env); /* accepts NULL */

/*
 * The absolute path of command[0]: itself, or the first file of that name that can be
 * executed in the PATH of env. Where there is none, the name. free().
 */
char *script_path(const char *command, char *const *env);

/*
 * The script's standard input as a file that is read from its start: the caller's to close,
 * 0 where there is none to give. Negative errno where this machine lacks something;
 * where its source cannot be read *ret_error says why (free()).
 */
int script_input(const struct conf_secret *source, char **ret_error);

struct script_verdict {
	enum probe_status status;
	enum probe_reason reason;
	char *text; /* NULL: the script's own says it; free() */
};

/* What an end means; said: it has written something. Pure. */
struct script_verdict script_judge(
	const struct script_conf *conf, enum child_end end, int value, bool said);

/* The performance data of a run, beside the limits on it. */
struct script_values;

/* Values go to measures as they are found; all are borrowed, trace may be NULL. */
struct script_values *script_values_create(
	const struct script_conf *conf, struct measures *measures, struct trace *trace);
void script_values_destroy(struct script_values *values); /* accepts NULL */
void script_values_take(struct script_values *values, const char *bytes, size_t length);

/* The output is over: limits that are broken, or cannot be judged, make a verdict worse. */
void script_values_judge(struct script_values *values, struct script_verdict *verdict);

#endif
