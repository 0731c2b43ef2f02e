// SPDX-License-Identifier: MIT
/* The rows that every database probe has, and the rules between them. */
#include "probes/sql.h"

#include <string.h>

const char *const sql_roles[] = {
	[SQL_ROLE_ANY] = "any",
	[SQL_ROLE_PRIMARY] = "primary",
	[SQL_ROLE_REPLICA] = "replica",
	NULL,
};

const char *const sql_accesses[] = {
	[SQL_ACCESS_ANY] = "any",
	[SQL_ACCESS_READ_WRITE] = "read_write",
	[SQL_ACCESS_READ_ONLY] = "read_only",
	NULL,
};

const struct conf_field sql_value_fields[] = {
	LIMIT_RANGE(struct sql_value, warning,
		.help = "Range as Nagios writes it, such as 10, 10:, ~:10 or @10:20; a number "
			"outside is warning"),
	LIMIT_RANGE(struct sql_value, critical, .help = "As warning; a number outside is critical"),
	{0},
};

bool sql_value_check(void *conf, const struct conf_node *node, struct conf_load *load)
{
	const struct sql_value *value = conf;

	return value->warning.text != NULL || value->critical.text != NULL ||
		conf_error(load, node, "'value' has no limit; write {warning: 100, critical: 200}");
}

bool sql_wants_lag(const struct sql_conf *conf)
{
	return conf->max_lag.note > 0 || conf->max_lag.warning > 0 || conf->max_lag.critical > 0;
}

bool sql_wants_state(const struct sql_conf *conf)
{
	return conf->role != SQL_ROLE_ANY || conf->access != SQL_ACCESS_ANY || sql_wants_lag(conf);
}

/* Where the complaint about a key points to; the short form has no keys. */
static struct conf_mark mark_of(const struct conf_node *node, const char *key)
{
	return node->type == CONF_MAPPING ? node_mark(node, key) : node->mark;
}

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n;")] == '\0';
}

bool sql_check(const struct sql_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	bool has_limits = conf->value.warning.text != NULL || conf->value.critical.text != NULL;
	bool fine = true;

	if (conf->query == NULL && conf->expect != NULL)
		fine = conf_error_at(load, mark_of(node, "expect"),
			"'expect' looks at the answer to a query; add query");
	if (conf->query == NULL && has_limits)
		fine = conf_error_at(load, mark_of(node, "value"),
			"'value' looks at the answer to a query; add query");
	if (conf->query != NULL && is_blank(conf->query))
		fine = conf_error_at(load, mark_of(node, "query"), "'query' is empty");
	if (node->type == CONF_MAPPING && node_get(node, "max_lag") != NULL && !sql_wants_lag(conf))
		fine = conf_error_at(load, node_mark(node, "max_lag"),
			"'max_lag' has no limit; write 30s, or {note: 10s, critical: 60s}");
	if (conf->role == SQL_ROLE_PRIMARY && sql_wants_lag(conf))
		fine = conf_error_at(load, mark_of(node, "max_lag"),
			"a primary is not behind; 'max_lag' is for a replica, or for role: any");
	return fine;
}
