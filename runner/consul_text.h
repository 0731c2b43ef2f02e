/* SPDX-License-Identifier: MIT */
/* runner/consul_text.h: what is put on the wire, and what is said of what came back. Pure. */
#ifndef RUNNER_CONSUL_TEXT_H
#define RUNNER_CONSUL_TEXT_H

#include <jansson.h>
#include <stddef.h>

#include "runner/consul.h"

/* The id percent-encoded once, ":" left as it is. free(). */
char *consul_text_encode(const char *id);

/* The path of a look at one check, with a filter where the id can be quoted in one. free(). */
char *consul_text_filter(const char *id);

/* Compact JSON; aborts when memory is out. free(). */
char *consul_text_json(const json_t *json);

/* What an HTTP status means; 200 is CONSUL_OK. */
enum consul_result consul_text_result(int code);

/*
 * "403 Permission denied: Missing service:write on web": the status and the first
 * line of the answer, cleaned, short, without the token (may be NULL). free().
 */
char *consul_text_cause(int code, const char *body, size_t length, const char *token);

#endif
