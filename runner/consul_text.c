// SPDX-License-Identifier: MIT
/* What is put on the wire, and what is said of what came back. */
#include "runner/consul_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/output.h"

#define CAUSE_MAX 200 /* bytes: the agent's refusals have fewer; an error page is cut */

/* RFC 3986, section 2.3, and ":", which stands in every default check id. */
static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "abcdefghijklmnopqrstuvwxyz"
			    "0123456789-._~:";

char *consul_text_encode(const char *id)
{
	static const char digits[] = "0123456789ABCDEF";
	char *encoded = xcalloc(strlen(id) + 1, 3);
	char *end = encoded;

	for (const char *at = id; *at != '\0'; at++) {
		unsigned char byte = (unsigned char)*at;

		if (strchr(plain, *at) != NULL) {
			*end++ = *at;
			continue;
		}
		*end++ = '%';
		*end++ = digits[byte >> 4];
		*end++ = digits[byte & 0xf];
	}
	return encoded;
}

char *consul_text_filter(const char *id)
{
	/* The agent's filter language has no way to write a quote inside its own kind. */
	const char *quote = strpbrk(id, "\"\\") == NULL ? "\""
		: strchr(id, '`') == NULL               ? "`"
							: NULL;
	char *filter, *encoded, *path;

	if (quote == NULL)
		return xstrdup("/v1/agent/checks");
	filter = xprintf("CheckID == %s%s%s", quote, id, quote);
	encoded = consul_text_encode(filter);
	path = xprintf("/v1/agent/checks?filter=%s", encoded);
	free(filter);
	free(encoded);
	return path;
}

char *consul_text_json(const json_t *json)
{
	size_t length = json_dumpb(json, NULL, 0, JSON_COMPACT);
	char *text = xcalloc(length + 1, 1);

	/* 0: the tree holds what cannot be written, or was never made: memory is out. */
	if (length == 0 || json_dumpb(json, text, length, JSON_COMPACT) != length) {
		(void)fputs("probity: cannot write JSON\n", stderr);
		abort();
	}
	return text;
}

enum consul_result consul_text_result(int code)
{
	switch (code) {
	case 200:
		return CONSUL_OK;
	case 401:
	case 403:
		return CONSUL_FORBIDDEN;
	case 404:
		return CONSUL_NOT_FOUND;
	case 429: /* the agent's rate limit: as busy as a 5xx */
		return CONSUL_FAILED;
	default:
		return code >= 500 ? CONSUL_FAILED : CONSUL_BAD;
	}
}

/* Overwrites each place where the token stands in the text. */
static void hide(char *text, const char *token)
{
	size_t length = token == NULL ? 0 : strlen(token);
	char *at = text;

	if (length == 0)
		return;
	while ((at = strstr(at, token)) != NULL)
		memset(at, '*', length);
}

char *consul_text_cause(int code, const char *body, size_t length, const char *token)
{
	char *whole = xstrndup(body == NULL ? "" : body, body == NULL ? 0 : length);
	char *line, *cause;

	whole[strcspn(whole, "\r\n")] = '\0';
	hide(whole, token);
	line = output_clean_line(whole, strlen(whole), CAUSE_MAX);
	if (code >= 300 && code < 400)
		cause = xprintf("%d, a redirect, which is not followed", code);
	else
		cause = xprintf("%d%s%s", code, *line == '\0' ? "" : " ", line);
	free(whole);
	free(line);
	return cause;
}
