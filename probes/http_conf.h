/* SPDX-License-Identifier: MIT */
/* probes/http_conf.h: the configuration of an HTTP probe between http*.c, for nobody else. */
#ifndef PROBES_HTTP_CONF_H
#define PROBES_HTTP_CONF_H

#include "config/field.h"
#include "probes/code_set.h"
#include "probes/http_place.h"
#include "probes/match.h"
#include "probes/match_json.h"
#include "probes/tls_conf.h"

struct http_conf {
	struct conf_url url;
	const char *method;
	struct conf_pairs headers;
	const char *body; /* NULL: none */
	struct code_set passing_status, warning_status;
	const struct match *body_match, *body_reject; /* NULL: no such assertion */
	struct conf_items json; /* struct json_assertion */
	int redirects; /* enum http_redirects */
	double max_body; /* bytes */
	struct tls_conf tls;

	/* Derived. */
	struct http_place place;
	struct http_login login;
};

/* The rules between the keys, and what is derived; see conf_variant.check. */
bool http_check(void *conf, const struct conf_node *node, struct conf_load *load);

#endif
