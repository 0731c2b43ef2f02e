// SPDX-License-Identifier: MIT
/* What the configuration of an HTTP probe must obey, and what is worked out once at load. */
#include "probes/http_conf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/arena.h"
#include "probes/http_kept.h"

/* Where the complaint about a key points to; the short form has no keys. */
static struct conf_mark mark_of(const struct conf_node *node, const char *key)
{
	return node->type == CONF_MAPPING ? node_mark(node, key) : node->mark;
}

static bool is_written(const struct conf_node *node, const char *key)
{
	return node->type == CONF_MAPPING && node_get(node, key) != NULL;
}

static bool is_ascii(const char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text > 0x7e)
			return false;
	}
	return true;
}

static char *keep(struct conf_load *load, const char *text)
{
	return text == NULL ? NULL : arena_strdup(load->arena, text);
}

static bool set_place(struct http_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	struct http_place place = {0};
	struct http_login login = {0};

	if (!http_place_parse(conf->url.text, NULL, &place, &login) || place.foreign) {
		http_place_finish(&place);
		return conf_error_at(load, mark_of(node, "url"),
			"'%s' is not a URL; write http://HOST:PORT/PATH or https://...",
			conf->url.shown);
	}
	conf->place = place;
	conf->place.url = arena_strdup(load->arena, place.url);
	conf->place.host = arena_strdup(load->arena, place.host);
	conf->login.user = keep(load, login.user);
	conf->login.password = keep(load, login.password);
	http_place_finish(&place);
	http_login_finish(&login);
	if (!is_ascii(conf->place.host))
		return conf_error_at(load, mark_of(node, "url"),
			"the host of '%s' is not ASCII; write its xn-- form", conf->url.shown);
	return true;
}

static bool has_body(const struct http_conf *conf)
{
	return conf->body != NULL || conf->form.count > 0 || conf->json_body.text != NULL;
}

static bool check_body(struct http_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	int bodies = (conf->body != NULL) + (conf->form.count > 0) + (conf->json_body.text != NULL);

	if (bodies > 1)
		return conf_error(load, node,
			"more than one body; leave one of 'body', 'form' and 'json_body'");
	if (bodies == 1 && !is_written(node, "method"))
		conf->method = "POST";
	return true;
}

static bool check_method(
	const struct http_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	struct conf_mark mark = mark_of(node, "method");

	if (!http_is_token(conf->method))
		return conf_error_at(load, mark, "'%s' is not a method", field_shown(conf->method));
	for (const char *at = conf->method; *at != '\0'; at++) {
		if (islower((unsigned char)*at))
			return conf_error_at(load, mark,
				"methods are case-sensitive; write '%s' in capitals",
				field_shown(conf->method));
	}
	if (strcmp(conf->method, "CONNECT") == 0)
		return conf_error_at(load, mark, "CONNECT is for proxies only");
	if (strcmp(conf->method, "HEAD") != 0)
		return true;
	if (conf->body_match != NULL || conf->body_reject != NULL || conf->json.count > 0)
		return conf_error_at(
			load, mark, "an answer to HEAD has no body to look at; use GET");
	if (has_body(conf))
		return conf_error_at(load, mark, "HEAD has no body");
	return true;
}

/* Headers whose value follows from the rest of the request. */
static bool is_ours(const char *name)
{
	static const char *const ours[] = {
		"Content-Length", "Transfer-Encoding", "Connection", "Expect"};

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
		if (strcasecmp(name, ours[i]) == 0)
			return true;
	}
	return false;
}

static bool check_header(const struct http_conf *conf, const struct conf_pair *header,
	struct conf_mark mark, struct conf_load *load)
{
	const char *value = header->value.value == NULL ? "" : header->value.value;
	const char *prefix = header->value.prefix == NULL ? "" : header->value.prefix;

	if (!http_is_token(header->name))
		return conf_error_at(
			load, mark, "'%s' cannot be the name of a header", header->name);
	if (is_ours(header->name))
		return conf_error_at(load, mark, "the header '%s' is set by probity", header->name);
	if (strpbrk(value, "\r\n") != NULL || strpbrk(prefix, "\r\n") != NULL)
		return conf_error_at(
			load, mark, "the value of '%s' holds a line break", header->name);
	if ((conf->login.user != NULL || conf->basic_auth != NULL) &&
		strcasecmp(header->name, "Authorization") == 0)
		return conf_error_at(load, mark,
			"both %s and a header say who is asking; leave one of them out",
			conf->basic_auth != NULL ? "basic_auth" : "the url");
	if (conf->host != NULL && strcasecmp(header->name, "Host") == 0)
		return conf_error_at(load, mark,
			"both 'host' and a header say which host is asked for; leave one of them "
			"out");
	return true;
}

static bool check_headers(
	const struct http_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	bool fine = true;

	for (size_t i = 0; i < conf->headers.count; i++) {
		const struct conf_pair *header = &conf->headers.items[i];
		struct conf_mark mark = node_mark(node_get(node, "headers"), header->name);

		fine = check_header(conf, header, mark, load) && fine;
	}
	return fine;
}

/* What is written wins over a default; two that are written must not contradict each other. */
static bool check_statuses(
	struct http_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	bool passing_written = is_written(node, "passing_status");
	bool warning_written = is_written(node, "warning_status");
	struct code_set redirects = {0};

	if (!code_set_settle(
		    &conf->passing_status, passing_written, &conf->warning_status, warning_written))
		return conf_error_at(load, node_mark(node, "warning_status"),
			"a status code stands in both 'passing_status' and 'warning_status'");
	for (int status = 300; status < 400; status++) {
		if (http_is_redirect(status))
			code_set_add(&redirects, status);
	}
	if (conf->redirects != HTTP_NONE && passing_written &&
		code_set_overlaps(&conf->passing_status, &redirects))
		conf_warn_at(load, node_mark(node, "passing_status"),
			"redirects are followed, and the last answer is judged; with 'redirects: "
			"none' a redirect itself can pass");
	return true;
}

static bool check_tls(struct http_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	const struct conf_node *tls = is_written(node, "tls") ? node_get(node, "tls") : NULL;
	bool upgrades = conf->redirects == HTTP_FOLLOW ||
		(conf->redirects == HTTP_SAME_HOST && conf->place.port == 80);

	if (tls != NULL && !conf->place.tls && !upgrades)
		conf_warn_at(load, node_mark(node, "tls"), "not used: '%s' is not https",
			conf->url.shown);
	return tls_conf_check(&conf->tls, tls, load);
}

/* Basic authentication, from wherever it is written (RFC 7617: no colon in the name). */
static bool check_auth(struct http_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	const struct conf_node *auth =
		is_written(node, "basic_auth") ? node_get(node, "basic_auth") : NULL;

	if (conf->basic_auth == NULL)
		return true;
	if (conf->login.user != NULL)
		return conf_error_at(load, node_mark(node, "basic_auth"),
			"both the url and basic_auth say who is asking; leave one of them out");
	if (*conf->basic_auth->user == '\0' || strchr(conf->basic_auth->user, ':') != NULL)
		return conf_error_at(load, node_mark(auth, "user"),
			"a user's name is not empty and has no colon");
	return true;
}

static bool check_host(struct http_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	struct http_place place = {0};
	char *url;
	bool fine;

	if (conf->host == NULL)
		return true;
	url = xprintf("http://%s/", conf->host);
	fine = is_ascii(conf->host) && strpbrk(conf->host, "/?#@") == NULL &&
		http_place_parse(url, NULL, &place, NULL) && !place.foreign;
	if (fine)
		conf->host_name = arena_strdup(load->arena, place.host);
	else
		(void)conf_error_at(load, node_mark(node, "host"),
			"'%s' is no host; write HOST or HOST:PORT", field_shown(conf->host));
	http_place_finish(&place);
	free(url);
	return fine;
}

static void destroy_kept(void *kept)
{
	http_kept_destroy(kept);
}

static bool check_connection(
	struct http_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	bool fine = true;

	if (conf->http_version == HTTP_VERSION_2 && !conf->place.tls)
		fine = conf_error_at(load, node_mark(node, "http_version"),
			"HTTP/2 is agreed upon in the TLS handshake; without TLS write "
			"2-prior-knowledge");
	if (conf->ip == HTTP_IP_BOTH && (conf->unix_socket != NULL || conf->reuse_connection))
		fine = conf_error_at(load, node_mark(node, "ip"),
			"'both' needs a fresh connection over each family; leave out '%s'",
			conf->unix_socket != NULL ? "unix_socket" : "reuse_connection");
	if (!conf->reuse_connection && is_written(node, "fresh_every"))
		conf_warn_at(load, node_mark(node, "fresh_every"),
			"not used: without reuse_connection each run has a fresh connection");
	if (conf->reuse_connection &&
		(strcmp(conf->method, "POST") == 0 || strcmp(conf->method, "PATCH") == 0))
		conf_warn_at(load, node_mark(node, "reuse_connection"),
			"a %s over a connection that is just being closed is sent again, and may "
			"count twice",
			conf->method);
	if (conf->reuse_connection && fine) {
		conf->kept = http_kept_create(conf->fresh_every);
		arena_defer(load->arena, destroy_kept, conf->kept);
	}
	return fine;
}

bool http_check(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct http_conf *http = conf;
	bool fine = set_place(http, node, load);

	/* All of them, so that all problems are told at once. */
	fine = check_body(http, node, load) && fine;
	fine = check_method(http, node, load) && fine;
	fine = check_auth(http, node, load) && fine;
	fine = check_host(http, node, load) && fine;
	fine = check_headers(http, node, load) && fine;
	fine = check_statuses(http, node, load) && fine;
	fine = check_connection(http, node, load) && fine;
	return fine && check_tls(http, node, load);
}
