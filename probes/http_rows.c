// SPDX-License-Identifier: MIT
/* The rows of an HTTP probe. */
#include "probes/http_conf.h"

const char *const http_redirect_choices[] = {
	[HTTP_SAME_HOST] = "same_host",
	[HTTP_FOLLOW] = "follow",
	[HTTP_NONE] = "none",
	NULL,
};

static const char *const version_choices[] = {
	[HTTP_VERSION_1_1] = "1.1",
	[HTTP_VERSION_1_0] = "1.0",
	[HTTP_VERSION_2] = "2",
	[HTTP_VERSION_2_PRIOR] = "2-prior-knowledge",
	NULL,
};

static const char *const ip_choices[] = {
	[HTTP_IP_ANY] = "any",
	[HTTP_IP_V4] = "v4",
	[HTTP_IP_V6] = "v6",
	[HTTP_IP_BOTH] = "both",
	NULL,
};

static const struct conf_field auth_fields[] = {
	CONF_STRING(struct http_auth_conf, user, .flags = CONF_REQUIRED, .help = "User name"),
	CONF_SECRET(struct http_auth_conf, password,
		.help = "Password; as {file: PATH} it is read before each run"),
	{0},
};

const struct conf_field http_fields[] = {
	CONF_URL(struct http_conf, url, .flags = CONF_REQUIRED,
		.help = "What is asked for; http or https, path and query are sent as written, a "
			"user part becomes basic authentication"),
	CONF_STRING(struct http_conf, method, .fallback = "GET",
		.help = "Request method; POST where it is left out and there is a body"),
	CONF_SECRETS(struct http_conf, headers,
		.help = "Request headers, beside Host, User-Agent and Accept; values are never "
			"shown"),
	CONF_MAP_IF(struct http_conf, basic_auth, http_auth_conf, auth_fields,
		.help = "Basic authentication, to this host and port only"),
	CONF_STRING(struct http_conf, body, .help = "Request body, sent as written"),
	CONF_SECRETS(struct http_conf, form,
		.help = "Request body as a form: names and values, encoded here"),
	HTTP_JSON(struct http_conf, json_body,
		.help = "Request body as JSON; 5, true and null are what they are in JSON, in "
			"quotes they are text"),
	HTTP_STATUSES(struct http_conf, passing_status, .fallback = "[2xx]",
		.help = "Status codes that pass, as 204, 2xx or 200-299"),
	HTTP_STATUSES(struct http_conf, warning_status, .fallback = "[429]", .flags = CONF_EMPTY,
		.help = "Status codes that are a warning, [] for none; all others are critical. A "
			"warning takes the instance out of every ?passing reader's pool"),
	MATCH_PATTERN(struct http_conf, body_match,
		.help = "Regular expression that the body must match"),
	MATCH_PATTERN(struct http_conf, body_reject,
		.help = "Regular expression that the body must not match"),
	MATCH_JSON(struct http_conf, json,
		.help = "What a body that is JSON must hold, by JSON pointers, as {/status: ok, "
			"/db/lag: {max: 5}}; an unreadable body is critical"),
	HTTP_HEADERS(struct http_conf, header_match,
		.help = "Regular expressions by names of headers: one line of each must match"),
	HTTP_HEADERS(struct http_conf, header_reject,
		.help = "Regular expressions by names of headers: no line of them may match"),
	CONF_CHOICE(struct http_conf, redirects, .choices = http_redirect_choices,
		.fallback = "same_host",
		.help = "Which redirects are followed, at most 5 of them: same_host (same scheme, "
			"host and port, or http on 80 to https on 443), follow (any host, never "
			"https to http, no credentials to another host or port), none. A refused "
			"one is critical"),
	CONF_SIZE(struct http_conf, max_body, .fallback = "1MiB", .min = 1, .max = 67108864,
		.help = "Bytes of the body that are read, after decoding; body_match, "
			"body_reject and json see as much"),
	CONF_BOOL(struct http_conf, compression, .fallback = "false",
		.help = "Whether a compressed body is asked for; max_body counts what is decoded"),
	CONF_CHOICE(struct http_conf, http_version, .choices = version_choices, .fallback = "1.1",
		.help = "Version that is spoken: 1.1, 1.0, 2 (over TLS; a server without it is "
			"critical), or 2-prior-knowledge for HTTP/2 in clear"),
	CONF_PATH(struct http_conf, unix_socket,
		.help = "Socket to connect to in place of the URL's host and port, which are then "
			"only names"),
	CONF_CHOICE(struct http_conf, ip, .choices = ip_choices, .fallback = "any",
		.help = "Which addresses of a name are tried: any, v4 or v6; with both one request "
			"must succeed over IPv4 and then one over IPv6"),
	CONF_STRING(struct http_conf, host,
		.help = "Host that is asked for, as HOST or HOST:PORT, in place of the URL's: the "
			"Host header, and without tls.server_name the name of the certificate"),
	CONF_BOOL(struct http_conf, reuse_connection, .fallback = "false",
		.help = "Whether runs share a connection, which hides a listener that is gone, and "
			"a "
			"new client certificate, until the next fresh one. A request that a "
			"connection swallowed as it was closed is sent again"),
	CONF_COUNT(struct http_conf, fresh_every, .fallback = "10", .min = 2, .max = 1000000,
		.help = "With reuse_connection: each run of this number takes a fresh connection"),
	TLS_MAP(struct http_conf, tls, .help = "How the server is verified"),
	{0},
};
