/* SPDX-License-Identifier: MIT */
/* runner/settings_rows.h: the kinds of the top level that settings.c alone uses. */
#ifndef RUNNER_SETTINGS_ROWS_H
#define RUNNER_SETTINGS_ROWS_H

#include "config/field.h"
#include "runner/settings_conf.h"

/* struct consul_address: http(s)://HOST:PORT, unix:///PATH or off. */
extern const struct conf_kind settings_consul_address;

/*
 * struct conf_items of struct check_conf. Elements take absent keys from the
 * mapping that load->user (const struct conf_node *, may be NULL) points to.
 */
extern const struct conf_kind settings_check_list;

/* A mapping of rows that say CONF_INHERIT, checked here; its member is a bool: given. */
extern const struct conf_kind settings_check_defaults;

extern const struct conf_field settings_check_fields[];
extern const struct conf_field settings_probe_fields[]; /* of `probes`, into the same struct */

/* What a check can be: the types of probes, and what is composed of others. */
extern const struct conf_variant *const settings_variants[];
extern const struct conf_field settings_consul_fields[];

/* Rules between the keys of the agent. */
bool settings_consul_check(void *conf, const struct conf_node *node, struct conf_load *load);

/* Rules of one check that need no other: ids, thresholds, times; fills what is derived. */
bool settings_check_derive(struct conf_load *load, const struct conf_node *node, void *conf);

/* The same for one of `probes`. */
bool settings_probe_derive(struct conf_load *load, const struct conf_node *node, void *conf);

/* True for keys of what runs, which a composed check has not. */
bool settings_compose_lacks(const char *key);

/*
 * The part of it that a composed check has: its members, its target. node is the mapping
 * of the check, in which keys that belong to its members are errors.
 */
bool settings_compose_derive(
	struct conf_load *load, const struct conf_node *node, struct check_conf *check);

/* Rules between the keys of a service, which may be NULL; node is its mapping. */
bool settings_service_check(
	struct conf_load *load, const struct conf_node *node, const struct service_conf *service);

#endif
