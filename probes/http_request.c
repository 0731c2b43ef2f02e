// SPDX-License-Identifier: MIT
/* The request: method, headers, body and credentials, set on a libcurl handle. */
#include "probes/http_request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/arena.h"
#include "probes/secret.h"

/* Lines beside conf's headers: Accept-Encoding, Expect, Content-Type, Host. */
#define MOST_OWN_LINES 4

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t")] == '\0';
}

/* A header line as CURLOPT_HTTPHEADER(3) wants it; an empty value needs a semicolon. */
static char *make_line(const struct conf_pair *header, char **ret_error)
{
	char *value = secret_read(&header->value, ret_error);
	char *line = NULL;

	if (value == NULL && *ret_error != NULL)
		return NULL;
	if (value == NULL || is_blank(value))
		line = xprintf("%s;", header->name);
	else if (strpbrk(value, "\r\n") == NULL)
		line = xprintf("%s: %s", header->name, value);
	else
		*ret_error = xprintf("%s: the file holds more than one line", header->value.file);
	secret_free(value);
	return line;
}

char *http_request_init(struct http_request *request, const struct http_conf *conf)
{
	size_t count = conf->headers.count;

	*request =
		(struct http_request){.conf = conf, .place = &conf->place, .method = conf->method};
	if (count == 0)
		return NULL;
	request->lines = xcalloc(count, sizeof(*request->lines));
	request->list = xcalloc(count + MOST_OWN_LINES, sizeof(*request->list));
	for (size_t i = 0; i < count; i++) {
		char *error = NULL, *named;

		request->lines[i] = make_line(&conf->headers.items[i], &error);
		if (request->lines[i] != NULL)
			continue;
		named = xprintf("header %s: %s", conf->headers.items[i].name, error);
		free(error);
		return named;
	}
	return NULL;
}

/*
 * Headers that another host may see. All others are taken for credentials: many
 * services have names of their own for them.
 */
static bool is_harmless(const char *name)
{
	static const char *const harmless[] = {"Accept", "Accept-Encoding", "Accept-Language",
		"Cache-Control", "Content-Type", "User-Agent"};

	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++) {
		if (strcasecmp(name, harmless[i]) == 0)
			return true;
	}
	return false;
}

static bool has_body(const struct http_request *request)
{
	return request->conf->body != NULL && !request->bare;
}

static bool is_sent(const struct http_request *request, const struct conf_pair *header)
{
	if (request->bare && strcasecmp(header->name, "Content-Type") == 0)
		return false;
	/* The file's content is a secret, whatever the header is called. */
	return !request->abroad || (is_harmless(header->name) && header->value.file == NULL);
}

static bool sends(const struct http_request *request, const char *name)
{
	const struct conf_pairs *headers = &request->conf->headers;

	for (size_t i = 0; i < headers->count; i++) {
		if (strcasecmp(headers->items[i].name, name) == 0 &&
			is_sent(request, &headers->items[i]))
			return true;
	}
	return false;
}

static void add_line(struct curl_slist *list, size_t *count, char *line)
{
	list[*count].data = line;
	list[*count].next = NULL;
	if (*count > 0)
		list[*count - 1].next = &list[*count];
	++*count;
}

/*
 * libcurl's own headers out, ours in. A line without a value takes one out.
 * "Connection: close" is not sent: servers would then mark the end of the body by
 * closing, and a body that is cut could not be told from one that has ended.
 */
static struct curl_slist *make_list(struct http_request *request)
{
	/* The bodies are decoded if they come encoded, but nobody asks for that. */
	static char no_encoding[] = "Accept-Encoding:";
	static char no_expect[] = "Expect:";
	static char no_type[] = "Content-Type:";
	static struct curl_slist usual = {.data = no_encoding};
	const struct conf_pairs *headers = &request->conf->headers;
	bool posts = has_body(request) || strcmp(request->method, "GET") != 0;
	size_t count = 0;

	if (headers->count == 0 && !posts && request->host_line == NULL)
		return &usual;
	if (request->list == NULL)
		request->list = xcalloc(MOST_OWN_LINES, sizeof(*request->list));
	if (request->host_line != NULL && !sends(request, "Host"))
		add_line(request->list, &count, request->host_line);
	if (!sends(request, "Accept-Encoding"))
		add_line(request->list, &count, no_encoding);
	if (posts && !sends(request, "Content-Type"))
		add_line(request->list, &count, no_type);
	if (posts)
		add_line(request->list, &count, no_expect);
	for (size_t i = 0; i < headers->count; i++) {
		if (is_sent(request, &headers->items[i]))
			add_line(request->list, &count, request->lines[i]);
	}
	return request->list;
}

static void set_method(CURL *easy, const struct http_request *request)
{
	const char *method = request->method;
	const char *body = has_body(request) ? request->conf->body : NULL;

	/* A request of these kinds without a body says "Content-Length: 0" (RFC 9110, 8.6). */
	if (body == NULL &&
		(strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 ||
			strcmp(method, "PATCH") == 0))
		body = "";
	if (strcmp(method, "HEAD") == 0)
		(void)curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	if (body != NULL) {
		(void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
		(void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
	}
	if (strcmp(method, body != NULL ? "POST" : "GET") != 0)
		(void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

/* True where server_name stands for the host: at the place that the user wrote, over TLS. */
static bool is_renamed(const struct http_request *request)
{
	return request->conf->tls.server_name != NULL && request->place->tls &&
		strcasecmp(request->place->host, request->conf->place.host) == 0;
}

const char *http_request_name(const struct http_request *request)
{
	return is_renamed(request) ? request->conf->tls.server_name : request->place->host;
}

static void free_names(struct http_request *request)
{
	free(request->url);
	free(request->host_line);
	request->url = request->host_line = NULL;
}

/* libcurl takes SNI and the name to verify from the URL, where Host: then has to be restored. */
static void set_names(struct http_request *request)
{
	char *authority;

	free_names(request);
	if (!is_renamed(request))
		return;
	request->url = http_place_renamed(request->place, request->conf->tls.server_name);
	authority = http_place_authority(request->place);
	request->host_line = xprintf("Host: %s", authority);
	free(authority);
}

void http_request_apply(CURL *easy, struct http_request *request)
{
	const struct http_login *login = &request->conf->login;

	set_names(request);
	(void)curl_easy_setopt(
		easy, CURLOPT_URL, request->url == NULL ? request->place->url : request->url);
	(void)curl_easy_setopt(easy, CURLOPT_USERAGENT, "probity/" PROBITY_VERSION);
	(void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	/* Decodes what comes; make_list() keeps it from asking. */
	(void)curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
	(void)curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	set_method(easy, request);
	if (login->user != NULL && !request->abroad) {
		(void)curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
		(void)curl_easy_setopt(easy, CURLOPT_USERNAME, login->user);
		(void)curl_easy_setopt(
			easy, CURLOPT_PASSWORD, login->password == NULL ? "" : login->password);
	}
	(void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, make_list(request));
}

void http_request_finish(struct http_request *request)
{
	for (size_t i = 0; request->lines != NULL && i < request->conf->headers.count; i++)
		secret_free(request->lines[i]);
	free(request->lines);
	free(request->list);
	free_names(request);
	request->lines = NULL;
	request->list = NULL;
}
