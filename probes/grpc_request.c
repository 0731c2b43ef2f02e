// SPDX-License-Identifier: MIT
/* The request of a gRPC call: headers, metadata and message, set on a libcurl handle. */
#include "probes/grpc_request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/grpc_message.h"
#include "probes/grpc_metadata.h"
#include "probes/secret.h"

#define SERVICE "grpc.health.v1.Health"

/* grpc-timeout has eight digits at most, and a unit. */
#define MOST_MS 99999999.0

/*
 * What the server has more than we, s: at the same moment its answer that the time is over
 * and our own end would take turns in being first.
 */
#define GRACE 1.0

/* "LANGUAGE-VARIANT/VERSION", as every gRPC library calls itself. */
#define USER_AGENT "grpc-c-probity/" PROBITY_VERSION

static char *make_line(const struct conf_pair *item, char **ret_error)
{
	char *value = secret_read(&item->value, ret_error);
	char *line = NULL;

	if (value == NULL && *ret_error != NULL)
		return NULL;
	if (value == NULL || grpc_metadata_is_binary(item->name) || grpc_metadata_is_text(value))
		line = grpc_metadata_line(item->name, value == NULL ? "" : value);
	else
		*ret_error = xprintf("%s: the file holds more than printable ASCII",
			item->value.file == NULL ? "value" : item->value.file);
	secret_free(value);
	return line;
}

static char *make_lines(struct grpc_request *request, const struct conf_pairs *metadata)
{
	request->count = metadata->count;
	request->lines =
		metadata->count == 0 ? NULL : xcalloc(metadata->count, sizeof(*request->lines));
	for (size_t i = 0; i < metadata->count; i++) {
		char *error = NULL, *named;

		request->lines[i] = make_line(&metadata->items[i], &error);
		if (request->lines[i] != NULL)
			continue;
		named = xprintf("metadata %s: %s", metadata->items[i].name, error);
		free(error);
		return named;
	}
	return NULL;
}

static void make_list(struct grpc_request *request, const struct grpc_conf *conf)
{
	/* libcurl only reads them; a line without a value takes its own out. */
	static char type[] = "Content-Type: application/grpc", trailers[] = "TE: trailers";
	static char no_accept[] = "Accept:", no_expect[] = "Expect:";
	char *usual[] = {type, trailers, no_accept, no_expect, (char *)conf->host_line,
		request->timeout_line};
	size_t own = sizeof(usual) / sizeof(*usual) - (request->timeout_line == NULL);
	size_t count = own + request->count;
	struct curl_slist *list = xcalloc(count, sizeof(*list));

	for (size_t i = 0; i < count; i++) {
		list[i].data = i < own ? usual[i] : request->lines[i - own];
		list[i].next = i + 1 < count ? &list[i + 1] : NULL;
	}
	request->list = list;
}

char *grpc_request_init(struct grpc_request *request, const struct grpc_conf *conf,
	const char *method, double timeout)
{
	double ms = ceil((timeout + GRACE) * 1000);
	char *problem;

	*request = (struct grpc_request){0};
	problem = make_lines(request, &conf->metadata);
	if (problem != NULL)
		return problem;
	if (timeout > 0)
		request->timeout_line = xprintf("grpc-timeout: %.0fm", ms < MOST_MS ? ms : MOST_MS);
	request->url = xprintf("%s/" SERVICE "/%s", conf->origin, method);
	request->body = grpc_request_encode(conf->service, &request->body_length);
	make_list(request, conf);
	return NULL;
}

void grpc_request_apply(CURL *easy, const struct grpc_request *request, bool tls)
{
	(void)curl_easy_setopt(easy, CURLOPT_URL, request->url);
	(void)curl_easy_setopt(easy, CURLOPT_USERAGENT, USER_AGENT);
	(void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
		tls ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
	(void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, request->list);
	(void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
	(void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_length);
	(void)curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
}

void grpc_request_finish(struct grpc_request *request)
{
	for (size_t i = 0; request->lines != NULL && i < request->count; i++)
		secret_free(request->lines[i]);
	free(request->lines);
	free(request->list);
	free(request->url);
	free(request->timeout_line);
	free(request->body);
	*request = (struct grpc_request){0};
}
