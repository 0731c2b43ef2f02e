/* SPDX-License-Identifier: MIT */
/* probes/sql.h: what every database probe may ask: its rows, and the rules between them. */
#ifndef PROBES_SQL_H
#define PROBES_SQL_H

#include <stdbool.h>

#include "probes/limits.h"
#include "probes/match.h"
#include "probes/time_limits.h"

enum sql_role {
	SQL_ROLE_ANY,
	SQL_ROLE_PRIMARY,
	SQL_ROLE_REPLICA,
};

enum sql_access {
	SQL_ACCESS_ANY,
	SQL_ACCESS_READ_WRITE,
	SQL_ACCESS_READ_ONLY,
};

struct sql_value { /* limits of a number; without text: none */
	struct limit_range warning, critical;
};

/* The member `sql` of the type's own struct, its first; filled by SQL_ROWS. */
struct sql_conf {
	const char *query; /* NULL: none */
	const struct match *expect;
	struct sql_value value;
	int role; /* enum sql_role */
	int access; /* enum sql_access */
	struct time_limits max_lag;
};

extern const struct conf_field sql_value_fields[];
extern const char *const sql_roles[];
extern const char *const sql_accesses[];
bool sql_value_check(void *conf, const struct conf_node *node, struct conf_load *load);

/* Rows for a struct T whose first member is `struct sql_conf sql`; T's check calls sql_check(). */
#define SQL_ROWS(T)                                                                                \
	CONF_STRING(struct sql_conf, query, .min = 0 * sizeof(struct {                             \
		_Static_assert(CONF_AT(T, sql, struct sql_conf) == 0, "sql is not first");         \
		int unused;                                                                        \
	}),                                                                                        \
		.help = "Statement to run; the first column of its first row is what counts"),     \
		MATCH_PATTERN(struct sql_conf, expect,                                             \
			.help = "Regular expression that the first column of the first row must "  \
				"match; no row and NULL are critical"),                            \
		CONF_MAP(struct sql_conf, value, sql_value, sql_value_fields,                      \
			.check = sql_value_check,                                                  \
			.help = "Limits on the number in the first column of the first row; no "   \
				"row, NULL and what is no number are critical"),                   \
		CONF_CHOICE(struct sql_conf, role, .choices = sql_roles, .fallback = "any",        \
			.help = "What the server must be"),                                        \
		CONF_CHOICE(struct sql_conf, access, .choices = sql_accesses, .fallback = "any",   \
			.help = "Whether the server must take writes, or must refuse them"),       \
		TIME_LIMITS(struct sql_conf, max_lag, .shorthand = "critical",                     \
			.help = "How far a replica may be behind; a duration alone is critical")

/* Rules between the rows above. */
bool sql_check(const struct sql_conf *conf, const struct conf_node *node, struct conf_load *load);

/* Whether the state of the server is to be asked: role, access or max_lag. */
bool sql_wants_state(const struct sql_conf *conf);
bool sql_wants_lag(const struct sql_conf *conf);

#endif
