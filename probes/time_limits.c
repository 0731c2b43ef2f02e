// SPDX-License-Identifier: MIT
/* Limits on a time: their rows, their order, and which one is broken. */
#include "probes/time_limits.h"

#include <math.h>

const struct conf_field time_limits_fields[] = {
	CONF_DURATION(struct time_limits, note, .min = 0.001, .max = 3600,
		.help = "A longer time is said, and the status stays"),
	CONF_DURATION(struct time_limits, warning, .min = 0.001, .max = 3600,
		.help = "A longer time is a warning, which leaves every ?passing reader's pool"),
	CONF_DURATION(struct time_limits, critical, .min = 0.001, .max = 3600,
		.help = "A longer time is critical"),
	{0},
};

bool time_limits_check(void *conf, const struct conf_node *node, struct conf_load *load)
{
	const struct time_limits *limits = conf;
	double last = 0;

	const struct {
		const char *key;
		double limit;
	} rows[] = {
		{"note", limits->note},
		{"warning", limits->warning},
		{"critical", limits->critical},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].limit > 0 && rows[i].limit < last)
			return conf_error_at(load, node_mark(node, rows[i].key),
				"%s must not be shorter than the milder limits before it",
				rows[i].key);
		last = fmax(last, rows[i].limit);
	}
	return true;
}

double time_limits_broken(
	const struct time_limits *limits, double seconds, enum probe_status *ret_status)
{
	const struct {
		double limit;
		enum probe_status status;
	} rows[] = {
		{limits->critical, PROBE_CRITICAL},
		{limits->warning, PROBE_WARNING},
		{limits->note, PROBE_PASSING},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].limit > 0 && seconds > rows[i].limit) {
			*ret_status = rows[i].status;
			return rows[i].limit;
		}
	}
	return 0;
}
