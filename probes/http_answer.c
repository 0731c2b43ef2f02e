// SPDX-License-Identifier: MIT
/* Status line, headers and body of one answer, taken piece by piece from libcurl. */
#include "probes/http_answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/arena.h"
#include "probes/probe.h"

/* All headers of an answer, bytes. Servers refuse more than 8 to 64 KiB of them themselves. */
#define MOST_HEAD ((size_t)256 * 1024)

/* The window's first size; most bodies that somebody matches are shorter. */
#define FIRST_WINDOW 4096

bool http_answer_redirects(const struct http_answer *answer)
{
	const struct http_conf *conf = answer->conf;

	/* An empty Location leads nowhere, as to a browser. */
	if (!http_is_redirect(answer->status) || answer->location == NULL ||
		*answer->location == '\0')
		return false;
	return conf->redirects != HTTP_NONE ||
		(!code_set_has(&conf->passing_status, answer->status) &&
			!code_set_has(&conf->warning_status, answer->status));
}

/* The code of a status line, "HTTP/1.1 200 OK"; 0 if it is none. */
static long read_status(const char *line, size_t length)
{
	const char *end = line + length;
	const char *at = memchr(line, ' ', length);
	long status = 0;
	int digits = 0;

	if (at == NULL)
		return 0;
	while (at < end && *at == ' ')
		at++;
	for (; at < end && isdigit((unsigned char)*at) && digits < 3; digits++)
		status = status * 10 + (*at++ - '0');
	return digits == 3 && (at == end || isspace((unsigned char)*at)) ? status : 0;
}

static void read_header(struct http_answer *answer, const char *line, size_t length)
{
	static const char name[] = "Location:";
	size_t at = sizeof(name) - 1;

	if (length < at || strncasecmp(line, name, at) != 0 || answer->location != NULL)
		return;
	while (at < length && isspace((unsigned char)line[at]))
		at++;
	while (length > at && isspace((unsigned char)line[length - 1]))
		length--;
	answer->location = xstrndup(line + at, length - at);
}

/* CURLOPT_HEADERFUNCTION(3): whole lines; those of 1xx answers and trailers too. */
static size_t take_header(char *line, size_t one, size_t length, void *data)
{
	struct http_answer *answer = data;

	(void)one;
	if (answer->head_bytes == 0 && answer->probe != NULL)
		probe_phase(answer->probe, PHASE_RECEIVE);
	answer->head_bytes += length;
	if (answer->head_bytes > MOST_HEAD) {
		answer->head_too_long = true;
		return 0;
	}
	if (answer->head_done && answer->status >= 200)
		return length; /* a trailer */
	if (length >= 5 && memcmp(line, "HTTP/", 5) == 0) {
		answer->status = read_status(line, length);
		answer->head_done = false;
		free(answer->location);
		answer->location = NULL;
		http_head_finish(&answer->head);
	} else if (length <= 2 && (*line == '\r' || *line == '\n')) {
		answer->head_done = true;
	} else {
		read_header(answer, line, length);
		if (answer->conf->header_match.count + answer->conf->header_reject.count > 0)
			http_head_add(&answer->head, line, length);
	}
	return length;
}

static void keep_body(struct http_answer *answer, const char *bytes, size_t length)
{
	size_t most = (size_t)answer->conf->max_body;
	size_t wanted = answer->body_bytes + length;
	size_t size = answer->window_size == 0 ? FIRST_WINDOW : answer->window_size;

	if (answer->conf->body_match == NULL && answer->conf->body_reject == NULL &&
		answer->conf->json.count == 0)
		return;
	while (size < wanted)
		size *= 2;
	if (size != answer->window_size) {
		answer->window_size = size < most ? size : most;
		answer->window = xrealloc(answer->window, answer->window_size, 1);
	}
	memcpy(answer->window + answer->body_bytes, bytes, length);
}

/* CURLOPT_WRITEFUNCTION(3): decoded bytes. Less than length ends the transfer. */
static size_t take_body(char *bytes, size_t one, size_t length, void *data)
{
	struct http_answer *answer = data;
	size_t room = (size_t)answer->conf->max_body - answer->body_bytes;
	size_t taken = length < room ? length : room;

	(void)one;
	keep_body(answer, bytes, taken);
	answer->body_bytes += taken;
	if (answer->probe != NULL && !http_answer_redirects(answer))
		probe_output(answer->probe, bytes, taken);
	answer->capped = taken < length;
	return answer->capped ? 0 : length;
}

void http_answer_apply(CURL *easy, struct http_answer *answer)
{
	struct http_answer empty = {.probe = answer->probe, .conf = answer->conf};

	http_answer_finish(answer);
	*answer = empty;
	(void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
	(void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, answer);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, answer);
}

void http_answer_finish(struct http_answer *answer)
{
	free(answer->location);
	free(answer->window);
	http_head_finish(&answer->head);
	answer->location = answer->window = NULL;
	answer->window_size = 0;
}
