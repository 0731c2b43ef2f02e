// SPDX-License-Identifier: MIT
/* The top-level rows, and the rules between checks. */
#include "runner/settings.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/safepath.h"
#include "runner/settings_rows.h"

/* The file as its rows see it. */
struct root_conf {
	struct consul_conf consul;
	struct resolve_conf resolver;
	struct service_conf *service;
	bool defaults;
	struct conf_items checks;
};

static const char *const on_stop_choices[] = {"auto", "leave", "critical", "deregister", NULL};

static const struct conf_field weights_fields[] = {
	CONF_COUNT(struct weights_conf, passing, .fallback = "1", .max = 65535,
		.help = "Weight in DNS SRV answers while passing"),
	CONF_COUNT(struct weights_conf, warning, .fallback = "1", .max = 65535,
		.help = "Weight in DNS SRV answers while warning"),
	{0},
};

static const struct conf_field register_fields[] = {
	CONF_STRING(struct register_conf, name, .flags = CONF_REQUIRED,
		.help = "Name of the service, under which callers find it"),
	CONF_STRING(struct register_conf, address,
		.help = "Address that callers are given; default: the node's"),
	CONF_COUNT(struct register_conf, port, .fallback = "0", .max = 65535,
		.help = "Port that callers are given; 0 for none"),
	CONF_STRINGS(struct register_conf, tags, .help = "Tags of the service"),
	CONF_SECRETS(struct register_conf, meta, .help = "Key and value pairs of the service"),
	CONF_MAP(struct register_conf, weights, weights_conf, weights_fields,
		.help = "Weights in DNS SRV answers"),
	{0},
};

static const struct conf_field service_fields[] = {
	CONF_STRING(struct service_conf, id, .flags = CONF_REQUIRED,
		.help = "Id of the service on the agent"),
	{
		/* The key is a word that C keeps for itself. */
		.key = "register",
		.kind = &conf_map_if,
		.offset = CONF_AT(struct service_conf, registration, struct register_conf *),
		.fields = register_fields,
		.size = sizeof(struct register_conf),
		.help = "How probity registers the service itself; without it the service must "
			"be registered by its owner",
	},
	CONF_STRING(struct service_conf, unit, .help = "The systemd unit that the service runs as"),
	CONF_CHOICE(struct service_conf, on_stop, .choices = on_stop_choices, .fallback = "auto",
		.help = "What becomes of the service on the agent when probity stops: auto says "
			"critical if the unit is stopped as well and else leaves the last claim to "
			"its TTL, leave always leaves it, critical says so, deregister removes a "
			"service that probity registered"),
	{0},
};

static const struct conf_field consul_fields[] = {
	{
		.key = "address",
		.kind = &settings_consul_address,
		.offset = CONF_AT(struct consul_conf, address, struct consul_address),
		.fallback = "http://127.0.0.1:8500",
		.help = "Local agent: http://HOST:PORT, unix:///PATH, or off for none",
	},
	CONF_PATH(struct consul_conf, token_file,
		.help = "File with the ACL token, read again when it changes"),
	/* An agent that answers at all does so in ms; one in an election hangs for 7 s or more. */
	CONF_DURATION(struct consul_conf, timeout, .fallback = "5s", .min = 0.1, .max = 60,
		.help = "Deadline of one call to the agent"),
	{0},
};

const struct conf_field settings_fields[] = {
	CONF_MAP(struct root_conf, consul, consul_conf, consul_fields, .shorthand = "address",
		.help = "The local Consul agent"),
	CONF_MAP(struct root_conf, resolver, resolve_conf, resolve_fields,
		.help = "How names are looked up"),
	CONF_MAP_IF(struct root_conf, service, service_conf, service_fields,
		.help = "The service that the checks of this file belong to"),
	{
		.key = "defaults",
		.kind = &settings_check_defaults,
		.offset = CONF_AT(struct root_conf, defaults, bool),
		.help = "Values for keys that a check of this file leaves out",
	},
	{
		.key = "checks",
		.kind = &settings_check_list,
		.offset = CONF_AT(struct root_conf, checks, struct conf_items),
		.fields = settings_check_fields,
		.size = sizeof(struct check_conf),
		.flags = CONF_REQUIRED,
		.help = "The checks",
	},
	{0},
};

static int compare_ids(const void *a, const void *b)
{
	const struct check_conf *left = *(const struct check_conf *const *)a;
	const struct check_conf *right = *(const struct check_conf *const *)b;
	int order = strcmp(left->id, right->id);

	if (order != 0)
		return order;
	return left->mark.line < right->mark.line ? -1 : left->mark.line > right->mark.line;
}

static bool ids_are_unique(struct conf_load *load, const struct settings *settings)
{
	const struct check_conf **sorted = xcalloc(settings->check_count + 1, sizeof(*sorted));
	bool fine = true;

	for (size_t i = 0; i < settings->check_count; i++)
		sorted[i] = &settings->checks[i];
	qsort(sorted, settings->check_count, sizeof(*sorted), compare_ids);
	for (size_t i = 1; i < settings->check_count; i++) {
		if (strcmp(sorted[i - 1]->id, sorted[i]->id) == 0)
			fine = conf_error_at(load, sorted[i]->mark,
				"check id '%s' is taken by the check in line %u; give one of them "
				"another name or id",
				field_shown(sorted[i]->id), sorted[i - 1]->mark.line);
	}
	free(sorted);
	return fine;
}

static bool belongs_somewhere(
	struct conf_load *load, const struct settings *settings, const struct check_conf *check)
{
	if (check->node || check->service != NULL || settings->consul.address.off)
		return true;
	return conf_error_at(load, check->mark,
		"check '%s' belongs to no service; add 'service: {id: …}' to the file, or 'node: "
		"true' to the check",
		field_shown(check->name));
}

static bool adopt_checks(
	struct conf_load *load, struct settings *settings, const struct conf_node *list)
{
	bool fine = true;

	if (settings->check_count == 0)
		return conf_error(load, list, "no checks: a file without checks watches nothing");
	for (size_t i = 0; i < settings->check_count; i++) {
		struct check_conf *check = &settings->checks[i];

		if (!check->node && settings->service_count > 0)
			check->service = &settings->services[0];
		fine = settings_check_derive(load, list->items[i], check) && fine;
		fine = belongs_somewhere(load, settings, check) && fine;
	}
	return fine && ids_are_unique(load, settings);
}

static bool fill(struct conf_load *load, struct settings *settings, const struct conf_node *tree)
{
	struct root_conf *root = arena_alloc(load->arena, sizeof(*root));
	bool fine;

	load->user = node_get(tree, "defaults");
	fine = field_load(load, settings_fields, tree, NULL, root);
	settings->root = root;
	settings->consul = root->consul;
	settings->resolver = root->resolver;
	settings->services = root->service;
	settings->service_count = root->service != NULL;
	settings->checks = root->checks.items;
	settings->check_count = root->checks.count;
	/* The rules between keys need the keys to be right. */
	fine = fine && settings_service_check(load, node_get(tree, "service"), root->service);
	return fine && adopt_checks(load, settings, node_get(tree, "checks"));
}

/* As root, whoever can write the file runs commands as root. */
static bool file_is_safe(struct conf_load *load, const char *path)
{
	const struct safepath_policy policy = {.sticky_is_fine = true};
	struct conf_mark mark = {.file = path};
	char *complaint = NULL;

	if (safepath_check(path, &policy, &complaint) != SAFEPATH_UNSAFE) {
		free(complaint);
		return true;
	}
	diag_add(load->diag, mark, geteuid() == 0 ? CONF_ERROR : CONF_WARNING,
		"%s: others could change what is run; make it writable only by its owner",
		complaint);
	free(complaint);
	return geteuid() != 0;
}

static const char *from_environment(const char *name)
{
	return getenv(name);
}

struct settings *settings_load(const char *path, struct conf_diag *diag)
{
	struct arena *arena = arena_create();
	struct conf_load load = {.arena = arena, .diag = diag, .getenv = from_environment};
	struct settings *settings = arena_alloc(arena, sizeof(*settings));
	struct conf_node *tree;

	settings->arena = arena;
	settings->references = 1;
	settings->path = arena_strdup(arena, path);
	settings->instance = settings_instance(arena, path);
	tree = file_is_safe(&load, path) ? node_load(arena, path, diag) : NULL;
	if (tree != NULL && fill(&load, settings, tree) && diag_errors(diag) == 0)
		return settings;
	arena_destroy(arena);
	return NULL;
}

struct settings *settings_share(struct settings *settings)
{
	settings->references++;
	return settings;
}

void settings_destroy(struct settings *settings)
{
	if (settings != NULL && --settings->references == 0)
		arena_destroy(settings->arena);
}

void settings_print(const struct settings *settings, FILE *stream)
{
	field_print(settings_fields, settings->root, 0, stream);
}

bool settings_same_check(const struct check_conf *a, const struct check_conf *b)
{
	const char *service_a = a->service != NULL ? a->service->id : "";
	const char *service_b = b->service != NULL ? b->service->id : "";

	return strcmp(a->id, b->id) == 0 && strcmp(service_a, service_b) == 0 &&
		field_equal(settings_check_fields, a, b);
}

double settings_fresh_for(const struct check_conf *check)
{
	/* 1 s for what the loop and the machine need: the same second that a kill is given. */
	return fmax(check->interval, check->retry_interval) + check->timeout + check->kill_grace +
		1;
}

const char *settings_instance(struct arena *arena, const char *path)
{
	static const char home[] = "/etc/probity/";
	char *resolved = realpath(path, NULL);
	const char *whole = resolved != NULL ? resolved : path;
	const char *rest = strncmp(whole, home, strlen(home)) == 0 ? whole + strlen(home) : NULL;
	const char *instance;

	if (rest == NULL || strchr(rest, '/') != NULL) {
		instance = arena_strdup(arena, whole);
	} else {
		size_t length = strlen(rest), suffix = strlen(".yaml");
		bool is_file = length > suffix && strcmp(rest + length - suffix, ".yaml") == 0;

		instance = arena_strndup(arena, rest, is_file ? length - suffix : length);
	}
	free(resolved);
	return instance;
}
