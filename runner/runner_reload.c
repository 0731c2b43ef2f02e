// SPDX-License-Identifier: MIT
/* From one configuration to the next, and from none to the first. */
#include "runner/runner.h"

#include <stdlib.h>
#include <string.h>

#include "probes/resolve.h"
#include "runner/log.h"
#include "runner/schedule.h"
#include "runner/state.h"

static void set_grid(struct runner *runner)
{
	double runs_per_second = 0;

	for (size_t i = 0; i < settings_count(runner->settings); i++) {
		const struct check_conf *conf = settings_at(runner->settings, i);

		if (conf->composed == NULL)
			runs_per_second += 1 / conf->interval;
	}
	runner->world.grid = schedule_grid(runs_per_second);
}

void runner_fill(struct runner *runner)
{
	const struct settings *settings = runner->settings;
	char *problem = NULL;
	struct state *state = state_load(runner->options.runtime_dir, &problem);

	if (problem != NULL)
		log_warning("the state file is not used: %s", problem);
	free(problem);
	set_grid(runner);
	runner->check_count = settings_count(settings);
	runner->checks = xcalloc(runner->check_count, sizeof(*runner->checks));
	for (size_t i = 0; i < runner->check_count; i++) {
		const struct check_conf *conf = settings_at(settings, i);
		struct threshold_state seed;

		runner->checks[i] = check_create(&runner->world, conf);
		if (state_find(state, conf->id, &seed))
			check_seed(runner->checks[i], &seed);
	}
	check_link_all(runner->checks, runner->check_count);
	for (size_t i = 0; i < runner->check_count; i++)
		check_start(runner->checks[i], i == 0);
	state_destroy(state);
}

static int compare_checks(const void *a, const void *b)
{
	const struct check *const *left = a, *const *right = b;

	return strcmp(check_conf_of(*left)->id, check_conf_of(*right)->id);
}

static int find_check(const void *id, const void *entry)
{
	return strcmp(id, check_conf_of(*(const struct check *const *)entry)->id);
}

/* Takes the old check out of the sorted list if it is the same in the new configuration. */
static struct check *take_same(
	struct check **old, size_t count, const struct check_conf *conf, bool *ret_changed)
{
	struct check **entry =
		count == 0 ? NULL : bsearch(conf->id, old, count, sizeof(*old), find_check);

	*ret_changed = entry != NULL && !settings_same_check(check_conf_of(*entry), conf);
	return entry != NULL && !*ret_changed ? *entry : NULL;
}

/* What becomes of each check of the new configuration. */
struct transition {
	struct check *kept; /* NULL: to be made */
	bool changed; /* made anew under an old id: its claim stands until it decides */
};

static void destroy_left(struct check **old, size_t old_count, const struct transition *plan,
	const struct settings *next)
{
	size_t count = settings_count(next), kept_count = 0;
	struct check **kept = xcalloc(count + 1, sizeof(*kept));

	for (size_t i = 0; i < count; i++) {
		if (plan[i].kept != NULL)
			kept[kept_count++] = plan[i].kept;
	}
	qsort(kept, kept_count, sizeof(*kept), compare_checks);
	for (size_t i = 0; i < old_count; i++) {
		if (kept_count == 0 ||
			bsearch(&old[i], kept, kept_count, sizeof(*kept), compare_checks) == NULL)
			check_destroy(old[i]);
	}
	free(kept);
}

static void make_checks(struct runner *runner, const struct transition *plan)
{
	for (size_t i = 0; i < runner->check_count; i++) {
		const struct check_conf *conf = settings_at(runner->settings, i);

		if (plan[i].kept != NULL) {
			runner->checks[i] = plan[i].kept;
			check_adopt(plan[i].kept, conf);
			continue;
		}
		runner->checks[i] = check_create(&runner->world, conf);
		if (plan[i].changed && !conf->shared)
			agent_hold(agent_find(runner->world.agent, conf->id));
		check_start(runner->checks[i], false);
	}
	check_link_all(runner->checks, runner->check_count);
}

void runner_log_left_out(const struct settings *settings)
{
	const struct settings_file *file;

	for (size_t i = 0; (file = settings_left_out(settings, i)) != NULL; i++)
		log_error("%s is left out, and what it says is not watched: %s", file->path,
			file->problem);
}

static void swap_in(struct runner *runner, struct settings *take_next)
{
	struct settings *previous = runner->settings;
	struct check **old = runner->checks;
	size_t old_count = runner->check_count, kept = 0;
	size_t count = settings_count(take_next);
	struct transition *plan = xcalloc(count, sizeof(*plan));

	qsort(old, old_count, sizeof(*old), compare_checks);
	for (size_t i = 0; i < count; i++) {
		plan[i].kept =
			take_same(old, old_count, settings_at(take_next, i), &plan[i].changed);
		kept += plan[i].kept != NULL && i < take_next->check_count;
	}
	destroy_left(old, old_count, plan, take_next);
	runner->settings = runner->world.settings = take_next;
	runner->check_count = count;
	runner->checks = xcalloc(count, sizeof(*runner->checks));
	set_grid(runner);
	resolve_setup(runner->world.loop, &take_next->resolver);
	agent_reload(runner->world.agent, take_next);
	make_checks(runner, plan);
	log_info("reloaded %s: %zu check%s, %zu of them unchanged", take_next->path,
		take_next->check_count, take_next->check_count == 1 ? "" : "s", kept);
	runner_log_left_out(take_next);
	free(old);
	free(plan);
	settings_destroy(previous);
	runner->world.dirty(runner);
}

/* The problems as log lines; the first error, if it stood in the way, is kept for status. */
static void log_problems(struct runner *runner, struct conf_diag *diag, bool refused)
{
	const struct conf_problem *problem;

	for (size_t i = 0; (problem = diag_at(diag, i)) != NULL; i++) {
		const struct conf_mark *mark = &problem->mark;

		log_write(problem->severity == CONF_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING,
			"%s:%u:%u: %s", mark->file, mark->line, mark->column, problem->text);
		if (refused && problem->severity == CONF_ERROR && runner->reload_error == NULL)
			runner->reload_error = xprintf("%s:%u:%u: %s", mark->file, mark->line,
				mark->column, problem->text);
	}
}

/* The next configuration with its ids, or NULL. */
static struct settings *load_next(struct runner *runner, struct conf_diag *diag)
{
	const struct settings_policy policy = {
		.before = runner->settings, .holder = id_lock_holder, .ids = runner->ids};
	struct settings *next;

	id_lock_look(runner->ids);
	next = settings_load(runner->options.config, &policy, diag);
	if (next == NULL || runner_lock_ids(runner, next, diag))
		return next;
	settings_destroy(next);
	return NULL;
}

void runner_reload(struct runner *runner)
{
	struct conf_diag *diag;
	struct settings *next;

	if (runner->stopping)
		return;
	runner_notify_reloading(runner);
	diag = diag_create();
	next = load_next(runner, diag);
	free(runner->reload_error);
	runner->reload_error = NULL;
	runner->reloads++;
	log_problems(runner, diag, next == NULL);
	if (next != NULL)
		swap_in(runner, next);
	else
		log_error("%s: not reloaded; the configuration from before stays in force",
			runner->options.config);
	diag_destroy(diag);
	runner_notify_reloaded(runner);
}
