// SPDX-License-Identifier: MIT
/* The script probe: runs a command; its exit code is the verdict, its output the text. */
#include "probes/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/child.h"
#include "probes/probe.h"
#include "probes/safepath.h"

#define LONGEST_TIMEOUT 30.0 /* s: as Consul's own script checks */

struct script_run {
	struct child *child;
	char *path;
	bool said; /* it has written something */
	struct script_values *values;
};

static void on_output(void *owner, const void *bytes, size_t length);
static void on_ended(void *owner, enum child_end end, int value);
static void on_failed(void *owner, const char *step, int error);

static const struct conf_field limit_fields[] = {
	CONF_SIZE(struct script_limits, memory, .min = 1048576, .max = 1099511627776,
		.help = "Most address space of one process, in bytes (RLIMIT_AS)"),
	CONF_COUNT(struct script_limits, processes, .min = 1, .max = 4194304,
		.help = "Most processes of the script's user on this machine (RLIMIT_NPROC); "
			"root is not bound by it"),
	CONF_COUNT(struct script_limits, descriptors, .min = 3, .max = 1048576,
		.help = "Most open files of one process (RLIMIT_NOFILE)"),
	CONF_DURATION(struct script_limits, cpu, .min = 1, .max = 86400,
		.help = "Most CPU time of one process, in whole seconds (RLIMIT_CPU)"),
	CONF_SIZE(struct script_limits, file_size, .min = 1, .max = 1099511627776,
		.help = "Largest file that it may write (RLIMIT_FSIZE)"),
	{0},
};

static const struct conf_field value_fields[] = {
	LIMIT_RANGE(struct script_limit, warning,
		.help = "Range whose numbers are fine, as 4 (0 to 4), 10:, ~:10, 10:20, or @10:20 "
			"for those that are not; outside it the run is a warning"),
	LIMIT_RANGE(
		struct script_limit, critical, .help = "The same; outside it the run is critical"),
	{0},
};

static const struct conf_field script_fields[] = {
	CONF_STRINGS(struct script_conf, command, .flags = CONF_VERBATIM,
		.help = "Program and arguments; the program is an absolute path or is looked up in "
			"the script's PATH"),
	CONF_STRING(struct script_conf, shell, .flags = CONF_VERBATIM,
		.help = "Text for /bin/sh -c, in place of command"),
	CONF_STRING(struct script_conf, user,
		.help = "User that it runs as, with all groups of that user; probity's own if left "
			"out"),
	CONF_STRING(struct script_conf, group,
		.help = "Group that it runs in; the user's own if left out"),
	CONF_PATH(struct script_conf, cwd, .fallback = "/", .help = "Directory that it starts in"),
	CONF_SECRETS(struct script_conf, env,
		.help = "Environment variables, beside PATH, LANG, HOME, USER and LOGNAME; nothing "
			"is inherited"),
	CONF_SECRET(struct script_conf, stdin,
		.help = "Text on standard input, or a file of at most 1 MiB that is read before "
			"each run; nothing if left out. Never shown"),
	CONF_MODE(struct script_conf, umask, .fallback = "022",
		.help = "File mode creation mask, three or four octal digits"),
	CONF_INTEGER(struct script_conf, nice, .min = -20, .max = 19,
		.help = "Nice value, whatever probity's own is; probity's own if left out"),
	CONF_DURATION(struct script_conf, kill_grace, .fallback = "1s", .min = 0.001, .max = 300,
		.help = "Time between SIGTERM at the timeout and SIGKILL"),
	CONF_BOOL(struct script_conf, no_new_privs, .fallback = "true",
		.help = "Whether set-user-id programs such as sudo and ping gain no rights"),
	CONF_MAP(struct script_conf, limits, script_limits, limit_fields,
		.help = "Limits of the script's processes; probity's own where left out"),
	EXIT_CODES(struct script_conf, passing_exit, .fallback = "[0]",
		.help = "Exit codes that pass, as 0 or 10-12"),
	EXIT_CODES(struct script_conf, warning_exit, .fallback = "[1]", .flags = CONF_EMPTY,
		.help = "Exit codes that are a warning, [] for none; all others are critical. A "
			"warning takes the instance out of every ?passing reader's pool"),
	CONF_NAMED(struct script_conf, values, script_limit, value_fields,
		.check = script_check_limit,
		.help = "Limits on values of the performance data, by their labels; they only make "
			"worse what the exit code says, and a value that is not there is critical"),
	{0},
};

/* Arguments and shell text may hold secrets: the program alone is shown. */
static char *script_target(const void *conf)
{
	const struct script_conf *script = conf;
	const char *name = script->argv.items[0];

	if (script->shell != NULL)
		return xprintf("%s -c ...", name);
	return script->argv.count > 1 ? xprintf("%s ...", name) : xstrdup(name);
}

static double script_kill_grace(const void *conf)
{
	return ((const struct script_conf *)conf)->kill_grace;
}

static void add_limit(struct child_spec *spec, struct child_limit *room, int resource, double value)
{
	struct child_limit limit = {.resource = resource, .soft = (rlim_t)value};

	if (value <= 0)
		return;
	/* XCPU says which limit it was; KILL, for those that take no notice of it, does not. */
	limit.hard = resource == RLIMIT_CPU ? limit.soft + 1 : limit.soft;
	room[spec->limit_count++] = limit;
}

/* True if nobody else can change what is about to run; else the run is over. */
static bool path_is_safe(struct probe *probe, const char *path)
{
	const struct script_conf *conf = probe_conf(probe);
	const struct safepath_policy policy = {.user = conf->uid};
	enum safepath_result result = SAFEPATH_SAFE;
	char *complaint = NULL;

	/* Where we are not root, whoever can change it gains nothing that is not ours to lose. */
	if (geteuid() == 0)
		result = safepath_check(path, &policy, &complaint);
	if (result == SAFEPATH_UNSAFE)
		probe_finish(probe, PROBE_CRITICAL, REASON_UNSAFE, "%s", complaint);
	free(complaint);
	return result != SAFEPATH_UNSAFE;
}

static void start_child(struct probe *probe, const char *path, const char *const *env, int input)
{
	const struct script_conf *conf = probe_conf(probe);
	struct script_run *run = probe_run(probe);
	const struct {
		int resource;
		double value;
	} wanted[] = {
		{RLIMIT_AS, conf->limits.memory},
		{RLIMIT_NPROC, conf->limits.processes},
		{RLIMIT_NOFILE, conf->limits.descriptors},
		{RLIMIT_CPU, conf->limits.cpu},
		{RLIMIT_FSIZE, conf->limits.file_size},
	};
	struct child_limit limits[sizeof(wanted) / sizeof(*wanted)];
	const struct child_events events = {
		.output = on_output, .ended = on_ended, .failed = on_failed, .owner = probe};
	struct child_spec spec = {
		.path = path,
		.argv = conf->argv.items,
		.envp = env,
		.cwd = conf->cwd,
		.set_ids = conf->set_ids,
		.uid = conf->uid,
		.gid = conf->gid,
		.groups = conf->groups,
		.group_count = conf->group_count,
		.umask = (mode_t)conf->umask,
		.no_new_privs = conf->no_new_privs,
		.set_nice = conf->nice != CONF_NO_INTEGER,
		.nice = conf->nice,
		.input = input,
		.kill_grace = conf->kill_grace,
		.limits = limits,
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		add_limit(&spec, limits, wanted[i].resource, wanted[i].value);
	run->values = script_values_create(conf, probe_values(probe), probe_tracer(probe));
	run->child = child_start(probe_loop(probe), &spec, &events, probe_remains(probe));
}

/* All is known but what it reads. */
static void start_with_input(struct probe *probe, const char *path, const char *const *env)
{
	const struct script_conf *conf = probe_conf(probe);
	char *error = NULL;
	int input = script_input(&conf->stdin, &error);

	if (error != NULL) {
		probe_finish(probe, PROBE_CRITICAL, REASON_SECRET, "%s", error);
		free(error);
	} else if (input < 0) {
		on_failed(probe, "stdin", -input);
	} else {
		probe_phase(probe, PHASE_RUN);
		start_child(probe, path, env, input);
		if (input > 0)
			(void)close(input);
	}
}

static void script_start(struct probe *probe)
{
	const struct script_conf *conf = probe_conf(probe);
	struct script_run *run = probe_run(probe);
	char *error = NULL;
	char **env = script_env(conf, &error);

	if (env == NULL) {
		probe_finish(probe, PROBE_CRITICAL, REASON_SECRET, "%s", error);
		free(error);
		return;
	}
	run->path = script_path(conf->argv.items[0], env);
	if (*run->path != '/') {
		probe_finish(
			probe, PROBE_CRITICAL, REASON_START, "%s: not found in PATH", run->path);
	} else if (path_is_safe(probe, run->path)) {
		start_with_input(probe, run->path, (const char *const *)env);
	}
	script_env_free(env);
}

static void on_output(void *owner, const void *bytes, size_t length)
{
	struct script_run *run = probe_run(owner);

	run->said = true;
	script_values_take(run->values, bytes, length);
	probe_output(owner, bytes, length);
}

static void on_ended(void *owner, enum child_end end, int value)
{
	struct probe *probe = owner;
	const struct script_run *run = probe_run(probe);
	struct script_verdict verdict = script_judge(probe_conf(probe), end, value, run->said);

	script_values_judge(run->values, &verdict);
	if (verdict.text == NULL)
		probe_finish(probe, verdict.status, verdict.reason, NULL);
	else
		probe_finish(probe, verdict.status, verdict.reason, "%s", verdict.text);
	free(verdict.text);
}

/* This machine lacks something, rather than the script. */
static bool is_local(const char *step, int error)
{
	/* The user of the script has too many processes: execve(2), EAGAIN. */
	if (error == EAGAIN && strcmp(step, "execve") == 0)
		return false;
	return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}

static void on_failed(void *owner, const char *step, int error)
{
	struct probe *probe = owner;
	const struct script_conf *conf = probe_conf(probe);
	const struct script_run *run = probe_run(probe);
	enum probe_reason reason = is_local(step, error) ? REASON_LOCAL_START : REASON_START;
	const char *hint = "";

	if (strcmp(step, "chdir") == 0) {
		probe_finish(
			probe, PROBE_CRITICAL, reason, "cwd %s: %s", conf->cwd, strerror(error));
		return;
	}
	if (strcmp(step, "execve") != 0) {
		probe_finish(probe, PROBE_CRITICAL, reason, "%s: %s", step, strerror(error));
		return;
	}
	/* The kernel says so of the program that the first line names, too. */
	if (error == ENOENT && access(run->path, F_OK) == 0)
		hint = " (the interpreter in its first line)";
	probe_finish(probe, PROBE_CRITICAL, reason, "%s: %s%s", run->path, strerror(error), hint);
}

/* Reaped, and only its pipe still open: its verdict has fallen. */
static void script_expire(struct probe *probe)
{
	struct script_run *run = probe_run(probe);

	if (run->child != NULL)
		child_expire(run->child);
}

static void script_cancel(struct probe *probe)
{
	struct script_run *run = probe_run(probe);

	child_release(run->child);
	run->child = NULL;
	script_values_destroy(run->values);
	run->values = NULL;
	free(run->path);
	run->path = NULL;
}

const struct probe_type probe_script = {
	.conf =
		{
			.name = "script",
			.summary =
				"Runs a command: exit code 0 is passing, 1 warning, else critical",
			.fields = script_fields,
			.size = sizeof(struct script_conf),
			.shorthand = "command",
			.example = "consul: off\n"
				   "checks:\n"
				   "  - name: load\n"
				   "    node: true\n"
				   "    script:\n"
				   "      command: [/usr/lib/nagios/plugins/check_load, -w, '9', "
				   "-c, '18']\n"
				   "      user: nobody\n"
				   "      values: {load15: {warning: 4, critical: 8}}\n",
			.check = script_check,
		},
	.run_size = sizeof(struct script_run),
	.longest_timeout = LONGEST_TIMEOUT,
	.target = script_target,
	.kill_grace = script_kill_grace,
	.start = script_start,
	.expire = script_expire,
	.cancel = script_cancel,
};
