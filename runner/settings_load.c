// SPDX-License-Identifier: MIT
/* A configuration out of its files: a single one, or all *.yaml of a folder. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runner/id_lock.h"
#include "runner/settings_parts.h"

/* One load. */
struct loading {
	struct settings *settings;
	struct conf_diag *diag;
	const struct settings_policy *policy;
	struct settings_part *parts;
	size_t count;
	bool refused; /* nothing is to be used */
};

/* An error of a file that is right when looked at alone. */
__attribute__((format(printf, 4, 5))) static bool complain(struct loading *loading,
	struct settings_part *part, struct conf_mark mark, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = xvprintf(format, arguments);
	va_end(arguments);
	diag_add(loading->diag, mark, CONF_ERROR, "%s", text);
	free(text);
	part->good = false;
	return false;
}

/* "line 5", or "a.yaml:5:3" where that is in another file. In the arena. */
static const char *show_mark(struct loading *loading, struct conf_mark mark, const char *from)
{
	struct arena *arena = loading->settings->arena;

	if (strcmp(mark.file, from) == 0)
		return arena_printf(arena, "line %u", mark.line);
	return arena_printf(arena, "%s:%u:%u", mark.file, mark.line, mark.column);
}

/* What one file at most may say for all of them. */
static void take_common(struct loading *loading, const char *key)
{
	const struct settings_part *first = NULL;

	for (size_t i = 0; i < loading->count; i++) {
		struct settings_part *part = &loading->parts[i];

		if (!settings_part_has(part, key))
			continue;
		if (first != NULL)
			(void)complain(loading, part, node_mark(part->tree, key),
				"'%s' stands in %s already; it is for all files of a folder", key,
				show_mark(loading, node_mark(first->tree, key), part->path));
		else
			first = part;
	}
	if (first == NULL || !first->good)
		return;
	if (strcmp(key, "consul") == 0)
		loading->settings->consul = first->root->consul;
	else
		loading->settings->resolver = first->root->resolver;
}

/* Where no file speaks of the agent or the resolver, their defaults are those of any good file. */
static void take_defaults(struct loading *loading)
{
	for (size_t i = 0; i < loading->count; i++) {
		const struct settings_part *part = &loading->parts[i];

		if (!part->good)
			continue;
		loading->settings->consul = part->root->consul;
		loading->settings->resolver = part->root->resolver;
		break;
	}
	take_common(loading, "consul");
	take_common(loading, "resolver");
}

static bool belongs_somewhere(
	struct loading *loading, struct settings_part *part, const struct check_conf *check)
{
	if (check->node || check->service != NULL || loading->settings->consul.address.off)
		return true;
	if (part->service_count > 1)
		return complain(loading, part, check->mark,
			"check '%s' could belong to %zu services; move it into the 'checks' of "
			"one of them, or add 'node: true'",
			field_shown(check->name), part->service_count);
	return complain(loading, part, check->mark,
		"check '%s' belongs to no service; add 'service: {id: …}' to the file, or 'node: "
		"true' to the check",
		field_shown(check->name));
}

static bool is_useful(struct loading *loading, struct settings_part *part)
{
	struct conf_mark mark = {.file = part->path};

	if (part->check_count > 0 ||
		(loading->settings->folder &&
			(settings_part_has(part, "consul") || settings_part_has(part, "resolver") ||
				settings_part_has(part, "probes"))))
		return true;
	if (settings_part_has(part, "checks"))
		mark = node_mark(part->tree, "checks");
	else if (part->tree != NULL)
		mark = part->tree->mark;
	return complain(loading, part, mark, "no checks: a file without checks watches nothing");
}

static int compare_ids(const void *a, const void *b)
{
	const struct check_conf *left = *(const struct check_conf *const *)a;
	const struct check_conf *right = *(const struct check_conf *const *)b;
	int order = strcmp(left->id, right->id);

	if (order == 0)
		order = strcmp(left->mark.file, right->mark.file);
	if (order != 0)
		return order;
	return left->mark.line < right->mark.line ? -1 : left->mark.line > right->mark.line;
}

/* Of two checks with one id the later one is wrong: in byte order of files, then by line. */
static void find_equal_ids(struct loading *loading)
{
	size_t count = 0, filled = 0;
	struct check_conf **sorted;

	for (size_t i = 0; i < loading->count; i++)
		count += loading->parts[i].good ? loading->parts[i].check_count : 0;
	sorted = xcalloc(count + 1, sizeof(struct check_conf *));
	for (size_t i = 0; i < loading->count; i++) {
		struct settings_part *part = &loading->parts[i];

		for (size_t j = 0; part->good && j < part->check_count; j++)
			sorted[filled++] = part->checks[j];
	}
	qsort(sorted, count, sizeof(struct check_conf *), compare_ids);
	for (size_t i = 1; i < count; i++) {
		struct settings_part *part = loading->parts;

		if (strcmp(sorted[i - 1]->id, sorted[i]->id) != 0)
			continue;
		while (strcmp(part->path, sorted[i]->mark.file) != 0)
			part++;
		(void)complain(loading, part, sorted[i]->mark,
			"check id '%s' is taken by the check in %s; give one of them another name "
			"or id",
			field_shown(sorted[i]->id),
			show_mark(loading, sorted[i - 1]->mark, part->path));
	}
	free(sorted);
}

/* What another process publishes is not for us, unless nobody is told anyway. */
static void find_held_ids(struct loading *loading, struct settings_part *part)
{
	const struct settings_policy *policy = loading->policy;
	bool asked =
		policy != NULL && policy->holder != NULL && !loading->settings->consul.address.off;

	for (size_t i = 0; asked && i < part->check_count; i++) {
		const char *id = part->checks[i]->id, *holder = policy->holder(policy->ids, id);

		if (holder != NULL)
			(void)complain(loading, part, part->checks[i]->mark, ID_LOCK_TEXT,
				field_shown(id), holder);
	}
}

/* The same service in two files is one, where they do not say different things of it. */
static bool agree(struct loading *loading, struct settings_part *part,
	const struct service_conf *had, const struct service_conf *service)
{
	const char *key = NULL;

	if (had->registration != NULL && service->registration != NULL)
		key = "register";
	else if (had->unit != NULL && service->unit != NULL &&
		strcmp(had->unit, service->unit) != 0)
		key = "unit";
	else if (had->on_stop != service->on_stop)
		key = "on_stop";
	if (key == NULL)
		return true;
	return complain(loading, part, service->mark,
		"service '%s' is in %s as well, with another '%s'; %s", field_shown(service->id),
		show_mark(loading, had->mark, part->path), key,
		had->on_stop != service->on_stop ? "say the same in both files"
						 : "say it in one file only");
}

static bool agrees_with_others(struct loading *loading, struct settings_part *part)
{
	bool fine = true;

	for (size_t i = 0; i < part->service_count; i++) {
		const struct service_conf *had =
			settings_find_service(loading->settings, part->services[i]->id);

		fine = (had == NULL || agree(loading, part, had, part->services[i])) && fine;
	}
	return fine;
}

/* The checks where they are, if one list of one file has them all: ten thousand are 3 MB. */
static struct check_conf *one_list(const struct loading *loading, size_t checks)
{
	const struct settings_part *part = loading->parts;

	if (loading->count != 1 || part->root == NULL || part->root->checks.count != checks)
		return NULL;
	return part->root->checks.items;
}

static void join(struct loading *loading)
{
	struct settings *settings = loading->settings;
	size_t services = 0, checks = 0;

	for (size_t i = 0; i < loading->count; i++) {
		services += loading->parts[i].service_count;
		checks += loading->parts[i].check_count;
	}
	settings->services =
		arena_alloc(settings->arena, (services + 1) * sizeof(*settings->services));
	settings->checks = one_list(loading, checks);
	if (settings->checks == NULL)
		settings->checks =
			arena_alloc(settings->arena, (checks + 1) * sizeof(*settings->checks));
	for (size_t i = 0; i < loading->count; i++) {
		struct settings_part *part = &loading->parts[i];

		if (!part->good || !agrees_with_others(loading, part))
			continue;
		settings_join(settings, part);
	}
}

static const struct settings_file *find_file(const struct settings *settings, const char *path)
{
	for (size_t i = 0; i < settings->file_count; i++) {
		if (strcmp(settings->files[i].path, path) == 0)
			return &settings->files[i];
	}
	return NULL;
}

/* True if the others may run without this file, which is bad. */
static bool may_be_left_out(struct loading *loading, const struct settings_part *part)
{
	const struct settings_policy *policy = loading->policy;
	const struct settings_file *before;
	struct conf_mark mark = {.file = part->path};

	if (!loading->settings->folder || policy == NULL)
		return false;
	if (settings_part_has(part, "consul") || settings_part_has(part, "resolver")) {
		diag_add(loading->diag, mark, CONF_ERROR,
			"nothing is started: its 'consul' and 'resolver' are for all files, which "
			"would ask another agent or resolver without them");
		return false;
	}
	if (policy->before == NULL)
		return true;
	before = find_file(policy->before, part->path);
	return before != NULL && before->problem != NULL;
}

/* The first error of a file, in the arena. */
static const char *first_problem(struct loading *loading, const char *path)
{
	const struct conf_problem *problem;

	for (size_t i = 0; (problem = diag_at(loading->diag, i)) != NULL; i++) {
		if (problem->severity != CONF_ERROR || strcmp(problem->mark.file, path) != 0)
			continue;
		if (problem->mark.line == 0)
			return arena_printf(
				loading->settings->arena, "%s: %s", path, problem->text);
		return arena_printf(loading->settings->arena, "%s:%u:%u: %s", path,
			problem->mark.line, problem->mark.column, problem->text);
	}
	/* Only so many are kept, of all files together. */
	return arena_printf(
		loading->settings->arena, "%s: see the first problems of the others", path);
}

static void note_files(struct loading *loading)
{
	struct settings *settings = loading->settings;

	settings->files =
		arena_alloc(settings->arena, (loading->count + 1) * sizeof(*settings->files));
	settings->file_count = loading->count;
	for (size_t i = 0; i < loading->count; i++) {
		const struct settings_part *part = &loading->parts[i];
		struct settings_file *file = &settings->files[i];

		file->path = part->path;
		file->root = part->root;
		if (part->good)
			continue;
		settings->left_out++;
		loading->refused = !may_be_left_out(loading, part) || loading->refused;
		file->problem = first_problem(loading, part->path);
	}
}

static void load_parts(struct loading *loading, char **names, size_t count)
{
	struct arena *arena = loading->settings->arena;

	loading->parts = arena_alloc(arena, (count + 1) * sizeof(*loading->parts));
	loading->count = count;
	for (size_t i = 0; i < count; i++)
		settings_part_load(arena, names[i], loading->diag, &loading->parts[i]);
	take_defaults(loading);
	for (size_t i = 0; i < count; i++) {
		struct settings_part *part = &loading->parts[i];

		if (!part->good || !is_useful(loading, part))
			continue;
		for (size_t j = 0; j < part->check_count; j++)
			(void)belongs_somewhere(loading, part, part->checks[j]);
		find_held_ids(loading, part);
	}
	find_equal_ids(loading);
	settings_link_parts(loading->settings, loading->parts, count, loading->diag);
	join(loading);
	settings_link_probes(loading->settings, loading->parts, count, loading->diag);
	note_files(loading);
}

static void load_all(struct loading *loading, const char *path)
{
	struct settings *settings = loading->settings;
	struct stat status;
	char *single, **paths = &single;
	size_t count = 1;

	single = arena_strdup(settings->arena, path);
	settings->folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
	if (settings->folder)
		count = settings_path_is_safe(path, loading->diag)
			? settings_list_folder(settings->arena, path, loading->diag, &paths)
			: 0;
	load_parts(loading, paths, count);
	if (count == 0 || settings->check_count > 0 || loading->refused)
		return;
	diag_add(loading->diag, (struct conf_mark){.file = settings->path}, CONF_ERROR,
		"no file of it can be used");
	loading->refused = true;
}

struct settings *settings_load(
	const char *path, const struct settings_policy *policy, struct conf_diag *diag)
{
	struct arena *arena = arena_create();
	struct settings *settings = arena_alloc(arena, sizeof(*settings));
	struct loading loading = {.settings = settings, .diag = diag, .policy = policy};

	settings->arena = arena;
	settings->references = 1;
	settings->path = arena_strdup(arena, path);
	settings->instance = settings_instance(arena, path);
	load_all(&loading, path);
	if (!loading.refused && settings->check_count > 0)
		return settings;
	arena_destroy(arena);
	return NULL;
}
