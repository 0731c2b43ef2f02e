/* SPDX-License-Identifier: MIT */
/* probes/redis_conf.h: the configuration of a redis probe between redis*.c, for nobody else. */
#ifndef PROBES_REDIS_CONF_H
#define PROBES_REDIS_CONF_H

#include "probes/limits.h"
#include "probes/match.h"
#include "probes/time_limits.h"
#include "probes/tls_conf.h"

enum redis_role { /* in the order of the row's choices */
	REDIS_ROLE_ANY,
	REDIS_ROLE_MASTER,
	REDIS_ROLE_REPLICA,
};

enum redis_cluster { /* in the order of the row's choices */
	REDIS_CLUSTER_ANY,
	REDIS_CLUSTER_OK,
};

/* One command of a session, in the order in which they are sent. */
enum redis_step_kind {
	REDIS_AUTH,
	REDIS_SELECT,
	REDIS_REPLICATION,
	REDIS_CLUSTER,
	REDIS_SENTINEL,
	REDIS_QUORUM,
	REDIS_COMMAND, /* what the user asks; always there, and the last */
	REDIS_STEP_KINDS,
};

struct redis_step {
	enum redis_step_kind kind;
	const char *label; /* as messages call it: "INFO replication"; no arguments of the user */
	const char *const *argv; /* of AUTH without the password, which comes last */
	size_t argc;
};

struct redis_value_conf { /* of a reply that is a number */
	struct limit_range warning, critical;
};

struct redis_conf {
	struct conf_address address;
	int ip; /* enum dial_family */
	struct tls_conf *tls; /* NULL: in clear */
	const char *user; /* NULL: the default one */
	struct conf_secret password;
	unsigned int db;
	struct conf_strings command; /* empty: PING */
	const struct match *expect, *reject;
	struct redis_value_conf value;
	int role; /* enum redis_role */
	struct time_limits max_lag;
	int cluster; /* enum redis_cluster */
	const char *sentinel; /* name of the master that it watches; NULL: not asked */

	/* Derived. */
	struct redis_step steps[REDIS_STEP_KINDS];
	size_t step_count;
	bool ping; /* the reply has to be PONG */
	struct conf_strings hidden; /* what is sent and came from the environment */
};

extern const struct conf_field redis_fields[];
bool redis_check(void *conf, const struct conf_node *node, struct conf_load *load);

bool redis_wants_lag(const struct redis_conf *conf);

/* Why a command is none for a probe, as "blocks until ..."; NULL where it is fine. Pure. */
const char *redis_command_problem(const struct conf_strings *command);

#endif
