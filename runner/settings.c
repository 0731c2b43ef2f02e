// SPDX-License-Identifier: MIT
/* The top-level rows, and the rules between checks. */
#include "runner/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/settings_parts.h"
#include "runner/settings_rows.h"

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
	/* An agent takes less than a minute for one, and looks every 30 s. */
	CONF_DURATION(struct register_conf, deregister_critical_service_after, .min = 60,
		.max = 31536000,
		.help = "The agent removes the service once a check of it was critical for so "
			"long; default: never"),
	CONF_BOOL(struct register_conf, revive, .fallback = "false",
		.help = "A service that the agent has removed in this way is registered again "
			"once none of its checks is critical; without it not before probity is "
			"started again"),
	{0},
};

/* Where checks stand: at the top of a file, and in a service. */
#define CHECK_ROWS(T)                                                                              \
	{                                                                                          \
		.key = "defaults",                                                                 \
		.kind = &settings_check_defaults,                                                  \
		.offset = CONF_AT(T, defaults, bool),                                              \
		.help = "Values for keys that the checks beside and below leave out",              \
	},                                                                                         \
	{                                                                                          \
		.key = "checks", .kind = &settings_check_list,                                     \
		.offset = CONF_AT(T, checks, struct conf_items), .fields = settings_check_fields,  \
		.size = sizeof(struct check_conf),                                                 \
		.help = "The checks, those of the node among them",                                \
	}

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
	CHECK_ROWS(struct service_conf),
	{0},
};

const struct conf_field settings_fields[] = {
	CONF_MAP(struct root_conf, consul, consul_conf, settings_consul_fields,
		.shorthand = "address", .check = settings_consul_check,
		.help = "The local Consul agent"),
	CONF_MAP(struct root_conf, resolver, resolve_conf, resolve_fields,
		.help = "How names are looked up"),
	CONF_MAP_IF(struct root_conf, service, service_conf, service_fields,
		.help = "The service that the checks of this file belong to; short for a list "
			"`services` of one"),
	CONF_LIST(struct root_conf, services, service_conf, service_fields,
		.help = "The services of this file, where there are several; each has checks of "
			"its own"),
	{
		.key = "probes",
		.kind = &settings_check_list,
		.offset = CONF_AT(struct root_conf, probes, struct conf_items),
		.fields = settings_probe_fields,
		.size = sizeof(struct check_conf),
		.help = "Probes that checks of any file are made of, by their names; each runs "
			"once however many checks use it, and is no check on the agent",
	},
	CHECK_ROWS(struct root_conf),
	{0},
};

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

size_t settings_count(const struct settings *settings)
{
	return settings->check_count + settings->probe_count;
}

const struct check_conf *settings_at(const struct settings *settings, size_t index)
{
	return index < settings->check_count ? &settings->checks[index]
					     : &settings->probes[index - settings->check_count];
}

void settings_print(const struct settings *settings, FILE *stream)
{
	for (size_t i = 0; i < settings->file_count; i++) {
		const struct settings_file *file = &settings->files[i];

		if (settings->folder)
			(void)fprintf(stream, "# %s%s\n", file->path,
				file->problem == NULL ? "" : ": left out");
		if (file->problem == NULL)
			field_print(settings_fields, file->root, 0, stream);
	}
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
