// SPDX-License-Identifier: MIT
/* The daemon from start to exit. */
#include "runner/runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/child.h"
#include "probes/clock.h"
#include "probes/curlev.h"
#include "probes/notice.h"
#include "probes/resolve.h"
#include "runner/command.h"
#include "runner/log.h"
#include "runner/state.h"

#define SAVE_DELAY 1.0 /* s: a fleet of flapping checks must not write the file for each flap */
#define STOP_AGENT 2.0 /* s for the last claims; a dead agent must not hold up a shutdown */
#define STOP_CHILDREN 1.0 /* s until a killed tree is given up: it is KILL that was sent */

static void on_hangup(struct ev_loop *loop, ev_signal *watcher, int events)
{
	(void)loop;
	(void)events;
	runner_reload(watcher->data);
}

static void on_agent_stopped(void *owner)
{
	struct runner *runner = owner;

	ev_break(runner->world.loop, EVBREAK_ALL);
}

static void on_terminate(struct ev_loop *loop, ev_signal *watcher, int events)
{
	struct runner *runner = watcher->data;

	(void)events;
	if (runner->stopping) { /* asked twice: at once */
		ev_break(loop, EVBREAK_ALL);
		return;
	}
	runner->stopping = true;
	log_info("stopping");
	runner_notify_stopping(runner);
	for (size_t i = 0; i < runner->check_count; i++)
		check_stop(runner->checks[i]);
	agent_stop(runner->world.agent, STOP_AGENT, on_agent_stopped, runner);
}

static void save_state(struct runner *runner)
{
	struct state_writer *writer = state_writer_create();
	int result;

	for (size_t i = 0; i < runner->check_count; i++)
		state_add(writer, check_conf_of(runner->checks[i])->id,
			check_state(runner->checks[i]));
	result = state_save(writer, runner->options.runtime_dir);
	if (result < 0 && !runner->save_failed)
		log_warning("%s: cannot write the state file: %s; a restart will begin anew",
			runner->options.runtime_dir, strerror(-result));
	runner->save_failed = result < 0;
}

static void on_save(struct ev_loop *loop, ev_timer *watcher, int events)
{
	(void)loop;
	(void)events;
	save_state(watcher->data);
}

static void on_dirty(void *owner)
{
	struct runner *runner = owner;

	if (ev_is_active(&runner->save))
		return;
	ev_timer_set(&runner->save, SAVE_DELAY, 0);
	ev_timer_start(runner->world.loop, &runner->save);
}

static void on_stall_noticed(void *owner, double seconds)
{
	struct runner *runner = owner;

	log_warning("stood still for %.1f s; runs that were open are repeated", seconds);
	for (size_t i = 0; i < runner->check_count; i++)
		check_hold(runner->checks[i]);
}

static void on_stall_settled(void *owner, double ended)
{
	struct runner *runner = owner;

	if (runner->stopping)
		return;
	for (size_t i = 0; i < runner->check_count; i++)
		check_stalled(runner->checks[i], ended);
}

static void on_notice(const char *text)
{
	log_warning("%s", text);
}

/* What a run needs at most is bounded by descriptors; children get the old limit back. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	/* Refused only above the hard limit, which this is not. */
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Makes the directory and those above it; one that exists is fine. */
static bool make_directory(const char *path)
{
	char *copy;
	int result = 0;

	if (*path == '\0') {
		errno = ENOENT; /* as mkdir(2) says of an empty path */
		return false;
	}
	copy = xstrdup(path);
	for (char *slash = strchr(copy + 1, '/'); slash != NULL && result == 0;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		result = mkdir(copy, 0755) != 0 && errno != EEXIST;
		*slash = '/';
	}
	if (result == 0)
		result = mkdir(copy, 0755) != 0 && errno != EEXIST;
	free(copy);
	return result == 0;
}

static bool open_control(struct runner *runner)
{
	const struct report_source source = runner_report_source(runner);
	char *error = NULL;

	if (!make_directory(runner->options.runtime_dir)) {
		log_error("%s: cannot make the runtime directory: %s; name another with "
			  "--runtime-dir",
			runner->options.runtime_dir, strerror(errno));
		return false;
	}
	runner->control =
		control_create(runner->world.loop, runner->options.runtime_dir, &source, &error);
	if (runner->control == NULL)
		log_error("%s", error);
	free(error);
	return runner->control != NULL;
}

static void start_watchers(struct runner *runner)
{
	struct ev_loop *loop = runner->world.loop;

	ev_signal_init(&runner->hangup, on_hangup, SIGHUP);
	ev_signal_init(&runner->terminate, on_terminate, SIGTERM);
	ev_signal_init(&runner->interrupt, on_terminate, SIGINT);
	runner->hangup.data = runner->terminate.data = runner->interrupt.data = runner;
	ev_signal_start(loop, &runner->hangup);
	ev_signal_start(loop, &runner->terminate);
	ev_signal_start(loop, &runner->interrupt);
	ev_timer_init(&runner->save, on_save, 0, 0);
	runner->save.data = runner;
	runner->stall.noticed = on_stall_noticed;
	runner->stall.settled = on_stall_settled;
	runner->stall.owner = runner;
	stall_start(&runner->stall, loop);
}

static void stop_watchers(struct runner *runner)
{
	struct ev_loop *loop = runner->world.loop;

	stall_stop(&runner->stall);
	ev_timer_stop(loop, &runner->save);
	ev_signal_stop(loop, &runner->hangup);
	ev_signal_stop(loop, &runner->terminate);
	ev_signal_stop(loop, &runner->interrupt);
}

bool runner_lock_ids(struct runner *runner, const struct settings *settings, struct conf_diag *diag)
{
	char *problem = NULL;
	bool fine = id_lock_take(runner->ids, settings, diag, &problem);

	if (problem != NULL)
		log_warning("%s", problem);
	free(problem);
	return fine;
}

static bool load_or_print(struct runner *runner)
{
	const struct settings_policy policy = {.holder = id_lock_holder, .ids = runner->ids};
	struct conf_diag *diag = diag_create();

	id_lock_look(runner->ids);
	runner->settings = settings_load(runner->options.config, &policy, diag);
	diag_print(diag, stderr);
	diag_destroy(diag);
	return runner->settings != NULL;
}

/* For good, now that there is a place for it; another may have come in between. */
static bool lock_or_print(struct runner *runner)
{
	struct conf_diag *diag = diag_create();
	bool fine = runner_lock_ids(runner, runner->settings, diag);

	diag_print(diag, stderr);
	diag_destroy(diag);
	return fine;
}

static bool set_up(struct runner *runner)
{
	struct check_world *world = &runner->world;
	int result = child_setup(world->loop);

	if (result < 0) {
		log_error("cannot watch over children: %s", strerror(-result));
		return false;
	}
	raise_descriptors();
	notice_set(on_notice);
	if (gethostname(runner->host, sizeof(runner->host) - 1) != 0)
		runner->host[0] = '\0';
	runner->started = clock_boot();
	world->host = runner->host;
	world->dirty = on_dirty;
	world->owner = runner;
	return open_control(runner);
}

static void run(struct runner *runner)
{
	resolve_setup(runner->world.loop, &runner->settings->resolver);
	runner->world.agent = agent_create(runner->world.loop, runner->settings);
	start_watchers(runner);
	runner_fill(runner);
	log_info("watching %zu check%s of %s, agent %s", runner->settings->check_count,
		runner->settings->check_count == 1 ? "" : "s", runner->settings->path,
		runner->settings->consul.address.base);
	runner_log_left_out(runner->settings);
	runner_notify_start(runner);
	ev_run(runner->world.loop, 0);
	save_state(runner);
	stop_watchers(runner);
	runner_notify_stop(runner);
	for (size_t i = 0; i < runner->check_count; i++)
		check_destroy(runner->checks[i]);
	free(runner->checks);
	agent_destroy(runner->world.agent);
	resolve_finish();
	child_finish(STOP_CHILDREN);
	curlev_shared_destroy();
}

int runner_main(const struct runner_options *options)
{
	struct runner runner = {.options = *options, .ids = id_lock_create(options->runtime_dir)};
	int code = EXIT_USAGE;

	if (!load_or_print(&runner)) {
		id_lock_destroy(runner.ids);
		return EXIT_USAGE;
	}
	runner.world.settings = runner.settings;
	/* The default loop: child watchers work on no other. */
	runner.world.loop = ev_default_loop(0);
	if (runner.world.loop == NULL) {
		log_error("cannot make an event loop: %s", strerror(errno));
	} else if (set_up(&runner) && lock_or_print(&runner)) {
		run(&runner);
		code = EXIT_FINE;
	}
	notice_set(NULL);
	id_lock_destroy(runner.ids);
	control_destroy(runner.control);
	settings_destroy(runner.settings);
	free(runner.reload_error);
	return code;
}
