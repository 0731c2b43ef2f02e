// SPDX-License-Identifier: MIT
/* The rules between the keys of a service. */
#include "runner/settings_rows.h"

#include <string.h>

#include "runner/settings.h"

/* systemd.unit(5): what a whole name ends with. */
static const char *const unit_suffixes[] = {".service", ".socket", ".target", ".scope", ".slice",
	".mount", ".automount", ".path", ".timer", ".device", ".swap"};

static bool is_unit_name(const char *name)
{
	const char *suffix = strrchr(name, '.');

	if (suffix == NULL || suffix == name || strchr(name, '/') != NULL)
		return false;
	for (size_t i = 0; i < sizeof(unit_suffixes) / sizeof(unit_suffixes[0]); i++) {
		if (strcmp(suffix, unit_suffixes[i]) == 0)
			return true;
	}
	return false;
}

bool settings_service_check(
	struct conf_load *load, const struct conf_node *node, const struct service_conf *service)
{
	bool fine = true;

	if (service->unit != NULL && !is_unit_name(service->unit))
		fine = conf_error(load, node_get(node, "unit"),
			"'%s' is no whole name of a systemd unit; one is 'web.service'",
			field_shown(service->unit));
	if (service->on_stop == ON_STOP_DEREGISTER && service->registration == NULL)
		fine = conf_error(load, node_get(node, "on_stop"),
			"probity deregisters only a service that it has registered; add 'register: "
			"{name: …}', or leave 'on_stop: deregister' to who registers it");
	return fine;
}
