// SPDX-License-Identifier: MIT
/* Services and checks of one file, behind those of the files before it. */
#include <string.h>

#include "runner/settings_parts.h"

struct service_conf *settings_find_service(const struct settings *settings, const char *id)
{
	for (size_t i = 0; i < settings->service_count; i++) {
		if (strcmp(settings->services[i].id, id) == 0)
			return &settings->services[i];
	}
	return NULL;
}

/* The array has room for all services of all files: its elements never move. */
static void join_services(struct settings *settings, const struct settings_part *part)
{
	for (size_t i = 0; i < part->service_count; i++) {
		const struct service_conf *service = part->services[i];
		struct service_conf *had = settings_find_service(settings, service->id);

		if (had == NULL) {
			settings->services[settings->service_count++] = *service;
			continue;
		}
		if (had->registration == NULL)
			had->registration = service->registration;
		if (had->unit == NULL)
			had->unit = service->unit;
	}
}

static void join_checks(struct settings *settings, const struct settings_part *part)
{
	for (size_t i = 0; i < part->check_count; i++) {
		struct check_conf *check = &settings->checks[settings->check_count++];

		if (check != part->checks[i])
			*check = *part->checks[i];
		if (check->service != NULL)
			check->service = settings_find_service(settings, check->service->id);
	}
}

void settings_join(struct settings *settings, const struct settings_part *part)
{
	join_services(settings, part);
	join_checks(settings, part);
}
