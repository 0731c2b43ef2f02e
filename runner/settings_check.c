// SPDX-License-Identifier: MIT
/* The rows of one check, the defaults they may take, and the rules between them. */
#include "runner/settings_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/units.h"
#include "runner/settings.h"

/* Ids live in URL paths and in the catalog; Consul itself has no limit (100,000 bytes were seen).
 */
#define ID_MAX 512

static const char *const status_choices[] = {"passing", "warning", "critical", NULL};

/* In the order of enum check_update. */
static const char *const update_choices[] = {"check_update", "ttl", NULL};

/* What brings a result. 1 h bounds the arithmetic of freshness; 24 h is for the rare nightly check.
 */
#define RUN_ROWS                                                                                   \
	CONF_ONEOF(struct check_conf, probe, .variants = settings_variants,                        \
		.flags = CONF_REQUIRED, .help = "What is probed"),                                 \
		CONF_DURATION(struct check_conf, interval, .fallback = "10s", .min = 0.1,          \
			.max = 86400, .flags = CONF_INHERIT,                                       \
			.help = "Time from one run to the next"),                                  \
		CONF_DURATION(struct check_conf, retry_interval, .min = 0.1, .max = 86400,         \
			.flags = CONF_INHERIT,                                                     \
			.help = "Time between runs while a change waits for its confirmation; "    \
				"default "                                                         \
				"and maximum: interval"),                                          \
		CONF_DURATION(struct check_conf, timeout, .min = 0.01, .max = 3600,                \
			.flags = CONF_INHERIT,                                                     \
			.help = "Deadline of one run, from name lookup to verdict; default: the "  \
				"smaller "                                                         \
				"of interval and 10s (script: 30s)")

/* What it means. */
#define RESULT_ROWS                                                                                \
	CONF_COUNT(struct check_conf, success_before_passing, .fallback = "1", .min = 1,           \
		.max = 1000, .flags = CONF_INHERIT,                                                \
		.help = "The check passes at this many successes in a row"),                       \
		CONF_COUNT(struct check_conf, failures_before_warning, .min = 1, .max = 1000,      \
			.flags = CONF_INHERIT,                                                     \
			.help = "The check is warning at this many failures in a row; default "    \
				"and "                                                             \
				"maximum: failures_before_critical"),                              \
		CONF_COUNT(struct check_conf, failures_before_critical, .fallback = "1", .min = 1, \
			.max = 1000, .flags = CONF_INHERIT,                                        \
			.help = "The check is critical at this many failures in a row"),           \
		CONF_CHOICE(struct check_conf, max_status, .choices = status_choices,              \
			.fallback = "critical", .flags = CONF_INHERIT,                             \
			.help = "Worst status that is published; passing makes the check "         \
				"advisory, "                                                       \
				"warning still leaves every ?passing reader's pool"),              \
		TIME_LIMITS(struct check_conf, max_latency, .flags = CONF_INHERIT,                 \
			.help = "Limits on the time a successful run takes")

const struct conf_field settings_check_fields[] = {
	CONF_STRING(struct check_conf, name, .flags = CONF_REQUIRED,
		.help = "Name of the check, as Consul shows it"),
	CONF_STRING(struct check_conf, id,
		.help = "Consul check id; default <service id>:<name>, for a node check "
			"probity:<name>"),
	CONF_STRING(struct check_conf, notes, .help = "Text for people, put before our mark"),
	CONF_BOOL(struct check_conf, node, .fallback = "false",
		.help = "A check of the node: critical here empties every service on it"),
	RUN_ROWS,
	CONF_DURATION(struct check_conf, ttl, .fallback = "60s", .min = 3, .max = 86400,
		.flags = CONF_INHERIT,
		.help = "TTL of the Consul check: how long the agent believes a probity that "
			"died"),
	CONF_CHOICE(struct check_conf, update, .choices = update_choices,
		.fallback = "check_update", .flags = CONF_INHERIT,
		.help = "Calls that tell the agent: check_update, or ttl for the older "
			"pass, warn "
			"and fail with a note"),
	CONF_BOOL(struct check_conf, take_over, .fallback = "false", .flags = CONF_INHERIT,
		.help = "A check of another owner or type that the agent has under this "
			"id is "
			"replaced; without it that is left alone, and nothing is "
			"published"),
	RESULT_ROWS,
	{0},
};

const struct conf_field settings_probe_fields[] = {
	CONF_STRING(struct check_conf, name, .flags = CONF_REQUIRED,
		.help = "Name that checks use it by; one in all files"),
	RUN_ROWS,
	RESULT_ROWS,
	{0},
};

/* One mapping of defaults is read into a scratch check, so that its mistakes are named once. */
static bool defaults_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	size_t count = 0;
	struct conf_field *rows;
	struct check_conf *scratch = arena_alloc(load->arena, sizeof(*scratch));

	(void)field;
	if (node->type != CONF_MAPPING)
		return conf_error(load, node, "defaults must be a map, such as {interval: 10s}");
	while (settings_check_fields[count].kind != NULL)
		count++;
	rows = arena_alloc(load->arena, (count + 1) * sizeof(*rows));
	count = 0;
	for (const struct conf_field *row = settings_check_fields; row->kind != NULL; row++) {
		if ((row->flags & CONF_INHERIT) != 0)
			rows[count++] = *row;
	}
	*(bool *)member = true;
	return field_load(load, rows, node, NULL, scratch);
}

static void defaults_print(const struct conf_field *field, const void *member, FILE *stream)
{
	(void)field;
	(void)member;
	(void)fputs("{}", stream); /* what was inherited prints with each check */
}

static bool defaults_equal(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	(void)a;
	(void)b;
	return true; /* its effect is in the checks, which are compared */
}

static json_t *defaults_schema(const struct conf_field *field)
{
	json_t *schema = field_schema(settings_check_fields);
	const json_t *all = json_object_get(schema, "properties");
	json_t *some = json_object();

	(void)field;
	for (const struct conf_field *row = settings_check_fields; row->kind != NULL; row++) {
		if ((row->flags & CONF_INHERIT) != 0)
			(void)json_object_set(some, row->key, json_object_get(all, row->key));
	}
	(void)json_object_set_new(schema, "properties", some);
	/* Of a whole check: a name, and one probe. */
	(void)json_object_del(schema, "required");
	(void)json_object_del(schema, "oneOf");
	return schema;
}

const struct conf_kind settings_check_defaults = {
	.name = "a map of defaults",
	.size = sizeof(bool),
	.parse = defaults_parse,
	.print = defaults_print,
	.equal = defaults_equal,
	.schema = defaults_schema,
};

static bool id_is_safe(const char *id)
{
	size_t length = strlen(id);
	const char *part = id;

	if (length == 0 || length > ID_MAX || *id == '/' || strstr(id, "//") != NULL)
		return false;
	for (const char *c = id; *c != '\0'; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return false;
		/* U+0080 to U+009F: a terminal obeys some of them. */
		if ((unsigned char)*c == 0xc2 && (unsigned char)c[1] <= 0x9f)
			return false;
	}
	while (part != NULL) {
		size_t span = strcspn(part, "/");

		if ((span == 1 && part[0] == '.') ||
			(span == 2 && part[0] == '.' && part[1] == '.'))
			return false;
		part = part[span] == '/' ? part + span + 1 : NULL;
	}
	return true;
}

static bool derive_id(
	struct conf_load *load, const struct conf_node *node, struct check_conf *check)
{
	const char *source = check->id != NULL ? "id" : "name";

	if (check->id == NULL) {
		if (check->node)
			check->id = arena_printf(load->arena, "probity:%s", check->name);
		else if (check->service != NULL && check->service->id != NULL)
			check->id =
				arena_printf(load->arena, "%s:%s", check->service->id, check->name);
		else
			check->id = check->name;
	}
	if (id_is_safe(check->id))
		return true;
	return conf_error_at(load, node_mark(node, source),
		"%s cannot be used as a Consul check id: no leading or double '/', no '.' or '..' "
		"between slashes, no control characters, 1 to %d bytes",
		source, ID_MAX);
}

static void lint_times(
	struct conf_load *load, const struct conf_node *node, const struct check_conf *check)
{
	char interval[UNITS_DURATION_SIZE], timeout[UNITS_DURATION_SIZE];

	if (check->timeout > check->interval) {
		units_print_duration(check->interval, interval, sizeof(interval));
		units_print_duration(check->timeout, timeout, sizeof(timeout));
		conf_warn_at(load, node_mark(node, "timeout"),
			"timeout %s is longer than interval %s: a hanging target is noticed late "
			"and ticks are skipped",
			timeout, interval);
	}
}

static bool derive_times(
	struct conf_load *load, const struct conf_node *node, struct check_conf *check)
{
	bool fine = true;

	if (check->timeout <= 0)
		check->timeout = fmin(check->interval, check->type->longest_timeout);
	if (check->retry_interval <= 0)
		check->retry_interval = check->interval;
	if (check->retry_interval > check->interval)
		fine = conf_error_at(load, node_mark(node, "retry_interval"),
			"retry_interval must not be longer than interval");
	if (check->failures_before_warning == 0)
		check->failures_before_warning = check->failures_before_critical;
	if (check->failures_before_warning > check->failures_before_critical)
		fine = conf_error_at(load, node_mark(node, "failures_before_warning"),
			"failures_before_warning must not be greater than "
			"failures_before_critical");
	return fine;
}

static void lint_status(
	struct conf_load *load, const struct conf_node *node, const struct check_conf *check)
{
	if (check->max_status == PROBE_WARNING)
		conf_warn_at(load, node_mark(node, "max_status"),
			"warning keeps the instance in Consul's default DNS answers but takes it "
			"out of every ?passing reader's pool; passing makes the check advisory");
}

static void lint_ttl(
	struct conf_load *load, const struct conf_node *node, const struct check_conf *check)
{
	/* An agent hangs up to 7 s in an election; three heartbeats must fit around that. */
	if (check->ttl < 21)
		conf_warn_at(load, node_mark(node, "ttl"),
			"a ttl under 21s can expire while the agent waits for a new leader (7 s)");
}

/* What runs, and when. */
static bool derive_run(
	struct conf_load *load, const struct conf_node *node, struct check_conf *check)
{
	char *target;

	check->mark = node->mark;
	check->type = probe_type_of(check->probe.variant);
	if (check->type == NULL)
		return settings_compose_derive(load, node, check);
	if (check->type->kill_grace != NULL)
		check->kill_grace = check->type->kill_grace(check->probe.conf);
	target = check->type->target(check->probe.conf);
	check->target = arena_strdup(load->arena, target);
	free(target);
	if (!derive_times(load, node, check))
		return false;
	lint_times(load, node, check);
	return true;
}

bool settings_check_derive(struct conf_load *load, const struct conf_node *node, void *conf)
{
	struct check_conf *check = conf;
	bool fine = derive_run(load, node, check);

	fine = derive_id(load, node, check) && fine;
	if (!fine)
		return false;
	lint_ttl(load, node, check);
	lint_status(load, node, check);
	return true;
}

bool settings_probe_derive(struct conf_load *load, const struct conf_node *node, void *conf)
{
	struct check_conf *probe = conf;
	bool fine = derive_run(load, node, probe);

	probe->shared = true;
	if (!id_is_safe(probe->name))
		return conf_error_at(load, node_mark(node, "name"),
			"name cannot be used: no leading or double '/', no '.' or '..' between "
			"slashes, no control characters, 1 to %d bytes",
			ID_MAX);
	/* No check has such an id: its leading slash is refused there. */
	probe->id = arena_printf(load->arena, "/probes/%s", probe->name);
	if (fine)
		lint_status(load, node, probe);
	return fine;
}
