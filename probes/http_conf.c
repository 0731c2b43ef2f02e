// SPDX-License-Identifier: MIT
/* What the configuration of an HTTP probe must obey, and what is worked out once at load. */
#include "probes/http_conf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/arena.h"

/* Where the complaint about a key points to; the short form has no keys. */
static struct conf_mark mark_of(const struct conf_node *node, const char *key)
{
	return node->type == CONF_MAPPING ? node_mark(node, key) : node->mark;
}

static bool is_written(const struct conf_node *node, const char *key)
{
	return node->type == CONF_MAPPING && node_get(node, key) != NULL;
}

/* RFC 9110, section 5.6.2. */
static bool is_token(const char *text)
{
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		if (!isalnum((unsigned char)*text) && strchr("!#$%&'*+-.^_`|~", *text) == NULL)
			return false;
	}
	return true;
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

static bool check_method(
	const struct http_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	struct conf_mark mark = mark_of(node, "method");

	if (!is_token(conf->method))
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
	if (conf->body != NULL)
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

	if (!is_token(header->name))
		return conf_error_at(
			load, mark, "'%s' cannot be the name of a header", header->name);
	if (is_ours(header->name))
		return conf_error_at(load, mark, "the header '%s' is set by probity", header->name);
	if (strpbrk(value, "\r\n") != NULL || strpbrk(prefix, "\r\n") != NULL)
		return conf_error_at(
			load, mark, "the value of '%s' holds a line break", header->name);
	if (conf->login.user != NULL && strcasecmp(header->name, "Authorization") == 0)
		return conf_error_at(load, mark,
			"both the url and a header say who is asking; leave one of them out");
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

bool http_check(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct http_conf *http = conf;
	bool fine = set_place(http, node, load);

	/* All of them, so that all problems are told at once. */
	fine = check_method(http, node, load) && fine;
	fine = check_headers(http, node, load) && fine;
	fine = check_statuses(http, node, load) && fine;
	return fine && check_tls(http, node, load);
}
