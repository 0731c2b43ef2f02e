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

void http_request_rewind(struct http_request *request)
{
	request->place = &request->conf->place;
	request->method = request->conf->method;
	request->bare = request->abroad = false;
}

/* The body, and the type that goes with it where no header says another. */
static char *init_body(struct http_request *request)
{
	const struct http_conf *conf = request->conf;
	char *error = NULL;

	request->body = conf->body;
	if (conf->json_body.text != NULL) {
		request->body = conf->json_body.text;
		request->type_line = "Content-Type: application/json";
	}
	if (conf->form.count == 0)
		return NULL;
	request->form = http_form_encode(&conf->form, &error);
	request->body = request->form;
	request->type_line = "Content-Type: application/x-www-form-urlencoded";
	return error;
}

static char *init_auth(struct http_request *request)
{
	char *error = NULL, *named;

	if (request->conf->basic_auth == NULL)
		return NULL;
	request->password = secret_read(&request->conf->basic_auth->password, &error);
	if (error == NULL)
		return NULL;
	named = xprintf("basic_auth: %s", error);
	free(error);
	return named;
}

static char *init_lines(struct http_request *request)
{
	const struct http_conf *conf = request->conf;
	size_t count = conf->headers.count;

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

char *http_request_init(struct http_request *request, const struct http_conf *conf)
{
	char *problem;

	*request = (struct http_request){.conf = conf};
	http_request_rewind(request);
	problem = init_lines(request);
	if (problem == NULL)
		problem = init_auth(request);
	if (problem == NULL)
		problem = init_body(request);
	return problem;
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
	return request->body != NULL && !request->bare;
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
		return request->conf->compression ? NULL : &usual;
	if (request->list == NULL)
		request->list = xcalloc(MOST_OWN_LINES, sizeof(*request->list));
	if (request->host_line != NULL && !sends(request, "Host"))
		add_line(request->list, &count, request->host_line);
	if (!request->conf->compression && !sends(request, "Accept-Encoding"))
		add_line(request->list, &count, no_encoding);
	if (posts && !sends(request, "Content-Type"))
		/* libcurl only reads the list. */
		add_line(request->list, &count,
			has_body(request) && request->type_line != NULL ? (char *)request->type_line
									: no_type);
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
	const char *body = has_body(request) ? request->body : NULL;

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

/* True at the host that the user wrote, whatever the port: `host` and tls.server_name count. */
static bool is_home(const struct http_request *request)
{
	return strcasecmp(request->place->host, request->conf->place.host) == 0;
}

const char *http_request_name(const struct http_request *request)
{
	const struct http_conf *conf = request->conf;

	const char *name = conf->tls.server_name != NULL ? conf->tls.server_name : conf->host_name;

	return name != NULL && is_home(request) ? name : request->place->host;
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
	const char *host = request->conf->host;
	const char *name = http_request_name(request);
	char *authority = NULL;

	if (host != NULL && !is_home(request))
		host = NULL;
	free_names(request);
	if (request->place->tls && strcasecmp(name, request->place->host) != 0) {
		request->url = http_place_renamed(request->place, name);
		authority = http_place_authority(request->place);
	}
	if (host != NULL || authority != NULL)
		request->host_line = xprintf("Host: %s", host != NULL ? host : authority);
	free(authority);
}

static void set_login(CURL *easy, const struct http_request *request)
{
	const struct http_auth_conf *auth = request->conf->basic_auth;
	const char *user = auth != NULL ? auth->user : request->conf->login.user;
	const char *password = auth != NULL ? request->password : request->conf->login.password;

	if (user == NULL || request->abroad)
		return;
	(void)curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
	(void)curl_easy_setopt(easy, CURLOPT_USERNAME, user);
	(void)curl_easy_setopt(easy, CURLOPT_PASSWORD, password == NULL ? "" : password);
}

char *http_request_show(const struct http_request *request)
{
	char *url = http_redact(request->place->url);
	char *text = has_body(request)
		? xprintf("%s %s, %zu bytes of body", request->method, url, strlen(request->body))
		: xprintf("%s %s", request->method, url);

	free(url);
	return text;
}

void http_request_apply(CURL *easy, struct http_request *request)
{
	static const long versions[] = {
		[HTTP_VERSION_1_0] = CURL_HTTP_VERSION_1_0,
		[HTTP_VERSION_1_1] = CURL_HTTP_VERSION_1_1,
		[HTTP_VERSION_2] = CURL_HTTP_VERSION_2TLS,
		[HTTP_VERSION_2_PRIOR] = CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE,
	};

	set_names(request);
	(void)curl_easy_setopt(
		easy, CURLOPT_URL, request->url == NULL ? request->place->url : request->url);
	(void)curl_easy_setopt(easy, CURLOPT_USERAGENT, "probity/" PROBITY_VERSION);
	(void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, versions[request->conf->http_version]);
	/* Decodes what comes; make_list() keeps it from asking. */
	(void)curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
	(void)curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	set_method(easy, request);
	set_login(easy, request);
	(void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, make_list(request));
}

void http_request_finish(struct http_request *request)
{
	for (size_t i = 0; request->lines != NULL && i < request->conf->headers.count; i++)
		secret_free(request->lines[i]);
	free(request->lines);
	free(request->list);
	secret_free(request->password);
	secret_free(request->form);
	free_names(request);
	request->lines = NULL;
	request->list = NULL;
	request->password = request->form = NULL;
}
