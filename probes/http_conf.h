/* SPDX-License-Identifier: MIT */
/* probes/http_conf.h: the configuration of an HTTP probe between http*.c, for nobody else. */
#ifndef PROBES_HTTP_CONF_H
#define PROBES_HTTP_CONF_H

#include "config/field.h"
#include "probes/code_set.h"
#include "probes/http_body.h"
#include "probes/http_headers.h"
#include "probes/http_place.h"
#include "probes/match.h"
#include "probes/match_json.h"
#include "probes/tls_conf.h"

struct http_kept;

enum http_ip { /* in the order of the row's choices; the first three are of enum dial_family */
	HTTP_IP_ANY,
	HTTP_IP_V4,
	HTTP_IP_V6,
	HTTP_IP_BOTH,
};

enum http_version { /* in the order of the row's choices */
	HTTP_VERSION_1_1,
	HTTP_VERSION_1_0,
	HTTP_VERSION_2,
	HTTP_VERSION_2_PRIOR,
};

struct http_auth_conf {
	const char *user;
	struct conf_secret password;
};

struct http_conf {
	struct conf_url url;
	const char *method;
	struct conf_pairs headers;
	struct http_auth_conf *basic_auth; /* NULL: none but what the URL says */
	const char *body; /* NULL: none */
	struct conf_pairs form;
	struct http_json json_body;
	struct code_set passing_status, warning_status;
	const struct match *body_match, *body_reject; /* NULL: no such assertion */
	struct conf_items json; /* struct json_assertion */
	int redirects; /* enum http_redirects */
	double max_body; /* bytes */
	bool compression;
	struct conf_items header_match, header_reject; /* of struct http_header_rule */
	int http_version; /* enum http_version */
	const char *unix_socket; /* NULL: over TCP */
	int ip; /* enum http_ip */
	const char *host; /* of the Host header; NULL: the URL's */
	bool reuse_connection;
	unsigned int fresh_every; /* runs */
	struct tls_conf tls;

	/* Derived. */
	struct http_place place;
	struct http_login login;
	const char *host_name; /* of `host`, without its port */
	struct http_kept *kept; /* NULL: each run has a connection of its own */
};

extern const struct conf_field http_fields[];
extern const char *const http_redirect_choices[]; /* by enum http_redirects */

/* The rules between the keys, and what is derived; see conf_variant.check. */
bool http_check(void *conf, const struct conf_node *node, struct conf_load *load);

#endif
