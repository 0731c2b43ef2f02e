// SPDX-License-Identifier: MIT
/* probity probe: checks once, now, and what they saw. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/suggest.h"
#include "probes/child.h"
#include "probes/curlev.h"
#include "probes/remains.h"
#include "probes/resolve.h"
#include "runner/command.h"
#include "runner/compose.h"
#include "runner/probe_table.h"
#include "runner/run.h"
#include "runner/verdict.h"

/* Runs at once: enough to be quick, few enough not to be what makes the targets slow. */
#define MOST_AT_ONCE 16
#define STOP_CHILDREN 1.0 /* s, as in the daemon */

static const char help[] =
	"usage: probity probe -c PATH [--json] [-v] [NAME...]\n"
	"\n"
	"Runs all checks of a configuration, or those named (by name or id), once and\n"
	"now, and prints what they saw. Nothing is told to the agent; thresholds and\n"
	"caps are left out, but for caps of what a check is made of. Those probes have a\n"
	"row of their own, which the exit code does not count unless they are named.\n"
	"\n"
	"  -c, --config PATH  configuration file or folder\n"
	"      --json         results as a JSON array\n"
	"  -v, --verbose      what each run did: phases as bars, addresses, certificates,\n"
	"                     redirects, and what each assertion saw\n"
	"  -h, --help         this text\n"
	"\n"
	"exit codes: 0 all passing, 1 the worst is warning, 2 the worst is critical,\n"
	"3 could not run; 2 also for a usage or configuration error, be it in one file of\n"
	"a folder only, whose others are probed\n";

struct job {
	struct session *session;
	const struct check_conf *check;
	struct remains *remains;
	struct run run;
	struct verdict verdict;
	bool done;
	bool asked; /* false: a probe that something else is made of */
};

/* All that one call of the command does. */
struct session {
	struct ev_loop *loop;
	struct settings *settings;
	const struct probe_table_style *style;
	struct job *jobs;
	size_t job_count, started, open;
	bool interrupted;
	ev_signal interrupt, terminate;
};

static void on_done(void *owner);

static void start_more(struct session *session)
{
	while (session->started < session->job_count && session->open < MOST_AT_ONCE) {
		struct job *job = &session->jobs[session->started++];

		if (job->check->composed != NULL)
			continue;
		session->open++;
		run_start(&job->run, session->settings, job->check, job->remains);
	}
}

static void on_done(void *owner)
{
	struct job *job = owner;
	struct session *session = job->session;

	verdict_init(&job->verdict, &job->check->max_latency, &job->run.outcome);
	job->done = true;
	session->open--;
	start_more(session);
	if (session->open == 0)
		ev_break(session->loop, EVBREAK_ALL);
}

static void on_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
	struct session *session = watcher->data;

	(void)events;
	session->interrupted = true;
	ev_break(loop, EVBREAK_ALL);
}

static void run_all(struct session *session)
{
	ev_signal_init(&session->interrupt, on_signal, SIGINT);
	ev_signal_init(&session->terminate, on_signal, SIGTERM);
	session->interrupt.data = session->terminate.data = session;
	ev_signal_start(session->loop, &session->interrupt);
	ev_signal_start(session->loop, &session->terminate);
	resolve_setup(session->loop, &session->settings->resolver);
	start_more(session);
	ev_run(session->loop, 0);
	for (size_t i = 0; i < session->job_count; i++)
		run_cancel(&session->jobs[i].run);
	ev_signal_stop(session->loop, &session->interrupt);
	ev_signal_stop(session->loop, &session->terminate);
	resolve_finish();
	child_finish(STOP_CHILDREN);
	curlev_shared_destroy();
}

static struct job *find_job(const struct session *session, const struct check_conf *check)
{
	for (size_t i = 0; i < session->job_count; i++) {
		if (session->jobs[i].check == check)
			return &session->jobs[i];
	}
	return NULL;
}

static void add_job(struct session *session, const struct check_conf *check, bool asked)
{
	const struct compose_conf *composed = check->composed;
	struct job *job = find_job(session, check);

	/* What a check is made of stands before it. */
	for (size_t i = 0; job == NULL && composed != NULL && i < composed->count; i++)
		add_job(session, composed->members[i].is, false);
	if (job != NULL) {
		job->asked = job->asked || asked;
		return;
	}
	job = &session->jobs[session->job_count++];
	job->asked = asked;
	job->session = session;
	job->check = check;
	job->remains = remains_create(NULL, NULL);
	run_init(&job->run, session->loop, on_done, job);
	job->run.traced = session->style->verbose;
}

static bool is_named(const struct check_conf *check, char *const *names, int count)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(names[i], check->name) == 0 || strcmp(names[i], check->id) == 0)
			return true;
	}
	return count == 0;
}

/* Says which name is no check's; true if each is one. */
static bool names_are_known(const struct settings *settings, char *const *names, int count)
{
	bool fine = true;

	for (int i = 0; i < count; i++) {
		struct suggest suggest;
		bool found = false;

		suggest_init(&suggest, names[i]);
		for (size_t j = 0; j < settings_count(settings) && !found; j++) {
			found = is_named(settings_at(settings, j), &names[i], 1);
			suggest_try(&suggest, settings_at(settings, j)->name);
		}
		if (found)
			continue;
		fine = false;
		(void)fprintf(
			stderr, "probity probe: %s has no check '%s'", settings->path, names[i]);
		if (suggest_result(&suggest) != NULL)
			(void)fprintf(stderr, "; did you mean '%s'?", suggest_result(&suggest));
		(void)fputc('\n', stderr);
	}
	return fine;
}

static struct compose_member member_of(
	const struct session *session, const struct member_conf *member, const char *line)
{
	const struct job *job = find_job(session, member->is);
	int own_cap = member->is->max_status;

	return (struct compose_member){
		.name = member->probe,
		.known = job->done,
		.status = job->verdict.result,
		.cap = (enum probe_status)(
			own_cap < member->max_status ? own_cap : member->max_status),
		.line = line,
	};
}

/* It lasted from the start of the first of its members to the end of the last. */
static void take_times(struct job *job, const struct outcome *member)
{
	struct outcome *outcome = &job->run.outcome;

	if (outcome->started <= 0 || member->started < outcome->started)
		outcome->started = member->started;
	if (member->ended > outcome->ended)
		outcome->ended = member->ended;
}

/* A composed check, once its members have run: they stand before it. */
static void compose(const struct session *session, struct job *job)
{
	const struct compose_conf *conf = job->check->composed;
	struct compose_member *members = xcalloc(conf->count, sizeof(*members));
	char **lines = xcalloc(conf->count, sizeof(*lines)), *details;

	for (size_t i = 0; i < conf->count; i++) {
		const struct job *member = find_job(session, conf->members[i].is);

		lines[i] = member->done
			? verdict_first_line(&member->verdict, &member->run.outcome.output)
			: xstrdup("");
		members[i] = member_of(session, &conf->members[i], lines[i]);
		take_times(job, &member->run.outcome);
	}
	job->done = compose_judge(members, conf->count, conf->wanted, &job->verdict.result);
	if (conf->name != NULL) {
		job->verdict.line = xstrdup(members->line);
	} else {
		job->verdict.line = compose_line(members, conf->count, conf->wanted);
		details = compose_details(members, conf->count);
		output_append(&job->run.outcome.output, details, strlen(details));
		free(details);
	}
	for (size_t i = 0; i < conf->count; i++)
		free(lines[i]);
	free(lines);
	free(members);
}

static int print_results(struct session *session)
{
	struct probe_result *results = xcalloc(session->job_count, sizeof(*results));
	int code;

	for (size_t i = 0; i < session->job_count; i++) {
		struct job *job = &session->jobs[i];

		results[i] = (struct probe_result){
			.is_member = !job->asked,
			.name = job->check->name,
			.id = job->check->id,
			.target = job->check->target,
			.ran = job->done,
			.status = job->verdict.result,
			.line = job->verdict.line,
			.outcome = &job->run.outcome,
		};
	}
	code = probe_table_print(results, session->job_count, session->style, stdout);
	free(results);
	return code;
}

static void finish(struct session *session)
{
	for (size_t i = 0; i < session->job_count; i++) {
		verdict_finish(&session->jobs[i].verdict);
		run_finish(&session->jobs[i].run);
		remains_release(session->jobs[i].remains);
	}
	free(session->jobs);
	settings_destroy(session->settings);
}

static int probe_all(
	const char *path, char *const *names, int count, const struct probe_table_style *style)
{
	struct session session = {.loop = ev_default_loop(0), .style = style};
	struct conf_diag *diag = diag_create();
	int result = session.loop == NULL ? -errno : child_setup(session.loop);
	int code = EXIT_USAGE;

	session.settings = settings_load(path, &(struct settings_policy){0}, diag);
	diag_print(diag, stderr);
	diag_destroy(diag);
	if (session.settings == NULL || !names_are_known(session.settings, names, count)) {
		finish(&session);
		return EXIT_USAGE;
	}
	session.jobs = xcalloc(settings_count(session.settings), sizeof(*session.jobs));
	for (size_t i = 0; i < settings_count(session.settings); i++) {
		const struct check_conf *check = settings_at(session.settings, i);

		/* Without names: every check; probes only as what those are made of. */
		if (is_named(check, names, count) && (count > 0 || !check->shared))
			add_job(&session, check, true);
	}
	if (result < 0) {
		(void)fprintf(
			stderr, "probity probe: cannot run children: %s\n", strerror(-result));
		code = EXIT_COULD_NOT;
	} else {
		run_all(&session);
		for (size_t i = 0; i < session.job_count; i++) {
			if (session.jobs[i].check->composed != NULL)
				compose(&session, &session.jobs[i]);
		}
		code = print_results(&session);
		if (session.settings->left_out > 0 && code < EXIT_USAGE)
			code = EXIT_USAGE;
		code = session.interrupted ? EXIT_COULD_NOT : code;
	}
	finish(&session);
	return code;
}

int command_probe(int argc, char **argv)
{
	enum {
		JSON = 256,
	};
	static const struct option options[] = {
		{"config", required_argument, NULL, 'c'},
		{"json", no_argument, NULL, JSON},
		{"verbose", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct probe_table_style style = {0};
	const char *path = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "c:vh", options, NULL)) != -1) {
		if (option == 'c')
			path = optarg;
		else if (option == JSON)
			style.json = true;
		else if (option == 'v')
			style.verbose = true;
		else if (option == 'h')
			return command_help(help);
		else
			return command_usage("probe", NULL);
	}
	if (path == NULL)
		return command_usage("probe", "needs a configuration: -c PATH");
	return probe_all(path, argv + optind, argc - optind, &style);
}
