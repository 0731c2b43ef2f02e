// SPDX-License-Identifier: MIT
/* One file of a configuration: its rows, its services, and which check belongs to which. */
#include "runner/settings_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/safepath.h"
#include "runner/settings_rows.h"

bool settings_part_has(const struct settings_part *part, const char *key)
{
	return part->tree != NULL && part->tree->type == CONF_MAPPING &&
		node_get(part->tree, key) != NULL;
}

bool settings_path_is_safe(const char *path, struct conf_diag *diag)
{
	const struct safepath_policy policy = {.sticky_is_fine = true};
	struct conf_mark mark = {.file = path};
	char *here = *path == '/' ? NULL : getcwd(NULL, 0);
	char *whole = here == NULL ? xstrdup(path) : xprintf("%s/%s", here, path);
	char *complaint = NULL;
	enum safepath_result result = safepath_check(whole, &policy, &complaint);

	free(whole);
	free(here);
	if (result != SAFEPATH_UNSAFE) {
		free(complaint);
		return true;
	}
	diag_add(diag, mark, geteuid() == 0 ? CONF_ERROR : CONF_WARNING,
		"%s: others could change what is run; make it writable only by its owner",
		complaint);
	free(complaint);
	return geteuid() != 0;
}

static const char *from_environment(const char *name)
{
	return getenv(name);
}

/* The same service twice in a file: its checks would be registered against each other. */
static bool add_service(struct conf_load *load, struct settings_part *part,
	const struct conf_node *node, struct service_conf *service)
{
	service->mark = node->mark;
	for (size_t i = 0; i < part->service_count; i++) {
		if (strcmp(part->services[i]->id, service->id) == 0)
			return conf_error_at(load, node_mark(node, "id"),
				"service '%s' stands in line %u already; put its checks there",
				field_shown(service->id), part->services[i]->mark.line);
	}
	part->services[part->service_count++] = service;
	return settings_service_check(load, node, service);
}

static bool add_services(struct conf_load *load, struct settings_part *part)
{
	struct root_conf *root = part->root;
	const struct conf_node *list = node_get(part->tree, "services");
	struct service_conf *services = root->services.items;
	bool fine = true;

	part->services = arena_alloc(
		load->arena, (root->services.count + 1) * sizeof(struct service_conf *));
	if (root->service != NULL && list != NULL)
		return conf_error_at(load, node_mark(part->tree, "services"),
			"'service' and 'services' in one file; make it one list");
	if (root->service != NULL)
		fine = add_service(load, part, node_get(part->tree, "service"), root->service);
	for (size_t i = 0; list != NULL && i < list->count; i++)
		fine = add_service(load, part, list->items[i], &services[i]) && fine;
	return fine;
}

static bool add_probes(struct conf_load *load, struct settings_part *part)
{
	const struct conf_items *items = &part->root->probes;
	const struct conf_node *list = node_get(part->tree, "probes");
	struct check_conf *probes = items->items;
	bool fine = true;

	for (size_t i = 0; i < items->count; i++)
		fine = settings_probe_derive(load, list->items[i], &probes[i]) && fine;
	return fine;
}

/* The checks of one list; service is NULL where the file says nothing of one. */
static bool add_checks(struct conf_load *load, struct settings_part *part,
	const struct conf_items *items, const struct conf_node *list, struct service_conf *service)
{
	struct check_conf *checks = items->items;
	bool fine = true;

	for (size_t i = 0; i < items->count; i++) {
		struct check_conf *check = &checks[i];

		check->service = check->node ? NULL : service;
		fine = settings_check_derive(load, list->items[i], check) && fine;
		part->checks[part->check_count++] = check;
	}
	return fine;
}

static bool add_all_checks(struct conf_load *load, struct settings_part *part)
{
	const struct root_conf *root = part->root;
	size_t count = root->checks.count;
	struct service_conf *only = part->service_count == 1 ? part->services[0] : NULL;
	bool fine;

	for (size_t i = 0; i < part->service_count; i++)
		count += part->services[i]->checks.count;
	part->checks = arena_alloc(load->arena, (count + 1) * sizeof(struct check_conf *));
	fine = add_checks(load, part, &root->checks, node_get(part->tree, "checks"), only);
	for (size_t i = 0; i < part->service_count; i++) {
		struct service_conf *service = part->services[i];
		const struct conf_node *node = root->service != NULL
			? node_get(part->tree, "service")
			: node_get(part->tree, "services")->items[i];

		fine = add_checks(load, part, &service->checks,
			       service->checks.count == 0 ? NULL : node_get(node, "checks"),
			       service) &&
			fine;
	}
	return fine;
}

void settings_part_load(struct arena *arena, const char *path, struct conf_diag *diag,
	struct settings_part *ret_part)
{
	struct conf_load load = {.arena = arena, .diag = diag, .getenv = from_environment};
	struct settings_part part = {.path = path};
	size_t before = diag_errors(diag);

	if (settings_path_is_safe(path, diag))
		part.tree = node_load(arena, path, diag);
	if (part.tree != NULL) {
		part.root = arena_alloc(arena, sizeof(*part.root));
		load.user = node_get(part.tree, "defaults");
		/* The rules between keys need the keys to be right. */
		part.good = field_load(&load, settings_fields, part.tree, NULL, part.root) &&
			add_services(&load, &part) && add_probes(&load, &part) &&
			add_all_checks(&load, &part);
	}
	part.good = part.good && diag_errors(diag) == before;
	*ret_part = part;
}
