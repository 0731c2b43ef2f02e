/* SPDX-License-Identifier: MIT */
/* probes/http_answer.h: one HTTP answer as it comes in, within limits. */
#ifndef PROBES_HTTP_ANSWER_H
#define PROBES_HTTP_ANSWER_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#include "probes/http_conf.h"

struct probe;

/* A struct of zeroes is an empty one. */
struct http_answer {
	struct probe *probe; /* gets phases and the body; NULL: nobody does */
	const struct http_conf *conf;
	long status; /* of the last status line; 0 before */
	bool head_done; /* all its headers are there */
	struct http_head head; /* its lines, where an assertion wants them */
	size_t head_bytes; /* of all heads and trailers so far */
	bool head_too_long; /* then the transfer was ended by us */
	char *location; /* of a redirect, as sent; owned, NULL if there is none */
	size_t body_bytes; /* decoded, taken so far */
	bool capped; /* the body is longer than max_body; the transfer was ended by us */
	char *window; /* the body, where an assertion wants it; owned */
	size_t window_size; /* allocated */
};

/* Forgets what an earlier transfer brought, then has easy fill it; it outlives the transfer. */
void http_answer_apply(CURL *easy, struct http_answer *answer);
void http_answer_finish(struct http_answer *answer); /* frees */

/* True for what has to be followed or refused; nothing of its body is shown. */
bool http_answer_redirects(const struct http_answer *answer);

#endif
