// SPDX-License-Identifier: MIT
/* Checks that are made of shared probes: their keys, and what is derived from them. */
#include <stdlib.h>
#include <string.h>

#include "probes/types.h"
#include "runner/settings_rows.h"

/* Enough for every dependency of a service; a longer list is a mistake of some generator. */
#define MOST_MEMBERS 100

static const char *const status_choices[] = {"passing", "warning", "critical", NULL};

static bool check_member(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct member_conf *member = conf;

	(void)load;
	member->mark = node->mark;
	return true;
}

static const struct conf_field member_fields[] = {
	CONF_STRING(struct member_conf, probe, .flags = CONF_REQUIRED,
		.help = "Name of one of the `probes`, of this or another file"),
	CONF_CHOICE(struct member_conf, max_status, .choices = status_choices,
		.fallback = "critical",
		.help = "Worst that it counts as; passing makes it optional"),
	{0},
};

/* Where a cap would have a failed member count as one that passes. */
static const struct conf_field plain_member_fields[] = {
	CONF_STRING(struct member_conf, probe, .flags = CONF_REQUIRED,
		.help = "Name of one of the `probes`, of this or another file"),
	{0},
};

#define MEMBERS(rows, text)                                                                        \
	CONF_LIST(struct compose_conf, of, member_conf, rows, .shorthand = "probe",                \
		.check = check_member, .flags = CONF_REQUIRED, .help = (text))

static const struct conf_field shared_fields[] = {
	CONF_STRING(struct compose_conf, name, .flags = CONF_REQUIRED,
		.help = "Name of one of the `probes`, of this or another file"),
	{0},
};

static const struct conf_field all_fields[] = {
	MEMBERS(member_fields, "The probes, each a name or {probe: NAME, max_status: passing}"),
	{0},
};

static const struct conf_field any_fields[] = {
	MEMBERS(plain_member_fields, "The probes, by name"),
	{0},
};

static const struct conf_field at_least_fields[] = {
	CONF_COUNT(struct compose_conf, n, .flags = CONF_REQUIRED, .min = 1, .max = MOST_MEMBERS,
		.help = "So many of them have to pass"),
	MEMBERS(plain_member_fields, "The probes, by name"),
	{0},
};

static bool same_member_twice(
	struct conf_load *load, const struct compose_conf *compose, size_t index)
{
	const struct member_conf *member = &compose->members[index];

	for (size_t i = 0; i < index; i++) {
		if (strcmp(compose->members[i].probe, member->probe) == 0)
			return !conf_error_at(load, member->mark,
				"'%s' is a member already; it would count twice",
				field_shown(member->probe));
	}
	return false;
}

static bool check_members(
	struct conf_load *load, const struct conf_node *node, struct compose_conf *compose)
{
	bool fine = true;

	compose->members = compose->of.items;
	compose->count = compose->of.count;
	if (compose->count == 0)
		return conf_error(load, node, "no members; name at least one of the 'probes'");
	if (compose->count > MOST_MEMBERS)
		return conf_error(load, node, "%zu members; at most %d can be one check",
			compose->count, MOST_MEMBERS);
	for (size_t i = 0; i < compose->count; i++)
		fine = !same_member_twice(load, compose, i) && fine;
	return fine;
}

static bool check_shared(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct compose_conf *compose = conf;

	compose->members = arena_alloc(load->arena, sizeof(*compose->members));
	*compose->members = (struct member_conf){
		.probe = compose->name, .max_status = PROBE_CRITICAL, .mark = node->mark};
	compose->count = compose->wanted = 1;
	return true;
}

static bool check_all(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct compose_conf *compose = conf;
	bool fine = check_members(load, node, compose);

	compose->wanted = (unsigned int)compose->count;
	return fine;
}

static bool check_any(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct compose_conf *compose = conf;
	bool fine = check_members(load, node, compose);

	compose->wanted = 1;
	for (size_t i = 0; i < compose->count; i++)
		compose->members[i].max_status = PROBE_CRITICAL;
	return fine;
}

static bool check_at_least(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct compose_conf *compose = conf;

	if (!check_any(conf, node, load))
		return false;
	compose->wanted = compose->n;
	return compose->n <= compose->count ||
		conf_error_at(load, node_mark(node, "n"),
			"%u of %zu can never pass; n is at most the number of members", compose->n,
			compose->count);
}

#define EXAMPLE_PROBES                                                                             \
	"service: {id: web-1}\n"                                                                   \
	"probes:\n"                                                                                \
	"  - {name: orders, http: 'http://127.0.0.1:8080/orders', interval: 2s}\n"                 \
	"  - {name: search, http: 'http://search.internal/ready'}\n"                               \
	"  - {name: queue-a, tcp: 'queue-a.internal:5672'}\n"                                      \
	"  - {name: queue-b, tcp: 'queue-b.internal:5672'}\n"

static const struct conf_variant compose_shared = {
	.name = "probe",
	.summary = "Takes over the results of one of the `probes`, which runs once for all checks "
		   "that use it",
	.fields = shared_fields,
	.size = sizeof(struct compose_conf),
	.shorthand = "name",
	.check = check_shared,
	.example = EXAMPLE_PROBES "checks:\n"
				  "  - {name: orders, probe: orders}\n"
				  "  - name: queue\n"
				  "    all: [queue-a, queue-b]\n"
				  "  - name: search\n"
				  "    probe: search\n"
				  "    max_status: passing\n",
};

static const struct conf_variant compose_all = {
	.name = "all",
	.summary = "Passes where all of several `probes` pass; the worst of them counts",
	.fields = all_fields,
	.size = sizeof(struct compose_conf),
	.shorthand = "of",
	.check = check_all,
	.example =
		EXAMPLE_PROBES "  - {name: queue, any: [queue-a, queue-b]}\n"
			       "checks:\n"
			       "  - name: ready\n"
			       "    all: [orders, queue, {probe: search, max_status: passing}]\n",
};

static const struct conf_variant compose_any = {
	.name = "any",
	.summary = "Passes where one of several `probes` passes; the best of them counts",
	.fields = any_fields,
	.size = sizeof(struct compose_conf),
	.shorthand = "of",
	.check = check_any,
	.example = EXAMPLE_PROBES "checks:\n"
				  "  - {name: queue, any: [queue-a, queue-b]}\n"
				  "  - {name: orders, all: [orders, search]}\n",
};

static const struct conf_variant compose_at_least = {
	.name = "at_least",
	.summary = "Passes where so many of several `probes` pass; the n-th best counts",
	.fields = at_least_fields,
	.size = sizeof(struct compose_conf),
	.check = check_at_least,
	.example = EXAMPLE_PROBES "checks:\n"
				  "  - name: queue\n"
				  "    at_least: {n: 2, of: [queue-a, queue-b, orders, search]}\n",
};

const struct conf_variant *const settings_variants[] = {
	PROBE_TYPES(PROBE_TYPE_VARIANT) & compose_shared, &compose_all, &compose_any,
	&compose_at_least, NULL};

/* A composed check runs nothing: these belong to its members. */
static const char *const run_keys[] = {"interval", "retry_interval", "timeout",
	"success_before_passing", "failures_before_warning", "failures_before_critical",
	"max_latency"};

#define RUN_KEYS (sizeof(run_keys) / sizeof(*run_keys))

bool settings_compose_lacks(const char *key)
{
	for (size_t i = 0; i < RUN_KEYS; i++) {
		if (strcmp(run_keys[i], key) == 0)
			return true;
	}
	return false;
}

static bool refuse_keys(
	struct conf_load *load, const struct conf_node *node, const struct check_conf *check)
{
	bool fine = true;

	for (size_t i = 0; i < RUN_KEYS; i++) {
		if (node_get(node, run_keys[i]) != NULL)
			fine = conf_error_at(load, node_mark(node, run_keys[i]),
				"'%s' belongs to what runs; move it to the probes that '%s' is "
				"made of",
				run_keys[i], check->probe.variant->name);
	}
	return fine;
}

bool settings_compose_derive(
	struct conf_load *load, const struct conf_node *node, struct check_conf *check)
{
	struct compose_conf *compose = check->probe.conf;
	const char *target = "";

	check->composed = compose;
	for (size_t i = 0; i < compose->count; i++)
		target = arena_printf(load->arena, "%s%s%s", target, i == 0 ? "" : ", ",
			field_shown(compose->members[i].probe));
	check->target = target;
	/* Also those that defaults gave. */
	check->interval = check->retry_interval = check->timeout = 0;
	check->success_before_passing = check->failures_before_warning =
		check->failures_before_critical = 1;
	check->max_latency = (struct time_limits){0};
	return refuse_keys(load, node, check);
}
