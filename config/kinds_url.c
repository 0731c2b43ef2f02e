// SPDX-License-Identifier: MIT
/* The kind of an HTTP URL. What is shown of one holds no secret. */
#include <ctype.h>
#include <string.h>

#include "config/field_private.h"
#include "config/hostport.h"

#define ELLIPSIS "\xe2\x80\xa6"

/* What is written for a user and a password: "user:***@", or "***@" for a user that may be a token.
 */
static const char *mask_user(struct arena *arena, const char *user, size_t length)
{
	const char *colon = memchr(user, ':', length);

	return colon == NULL ? "***@" : arena_printf(arena, "%.*s:***@", (int)(colon - user), user);
}

/*
 * Any text that was meant to be a URL, for messages: everything up to its last '@' is taken for
 * a user, since a password may hold a '/' or '?' that should have been encoded.
 */
static const char *mask_doubtful(struct arena *arena, const char *text)
{
	const char *start = strstr(text, "://");
	const char *at = strrchr(text, '@');
	const char *user = "", *rest;
	size_t path;

	start = start == NULL || (at != NULL && start > at) ? text : start + 3;
	rest = at == NULL ? start : at + 1;
	if (at != NULL)
		user = mask_user(arena, start, (size_t)(at - start));
	path = strcspn(rest, "?");
	return arena_printf(arena, "%.*s%s%.*s%s", (int)(start - text), text, user, (int)path, rest,
		rest[path] == '?' ? "?" ELLIPSIS : "");
}

/* A URL that was found to be one, for messages. */
static const char *mask(struct arena *arena, const char *url)
{
	const char *start = strstr(url, "://");
	const char *end, *at;
	size_t path;

	if (start == NULL) /* its scheme came from the environment */
		return mask_doubtful(arena, url);
	start += 3;
	end = start + strcspn(start, "/?#");
	at = memrchr(start, '@', (size_t)(end - start));
	end = at == NULL ? start : at + 1;
	path = strcspn(end, "?#");
	return arena_printf(arena, "%.*s%s%.*s%s", (int)(start - url), url,
		at == NULL ? "" : mask_user(arena, start, (size_t)(at - start)), (int)path, end,
		end[path] == '?' ? "?" ELLIPSIS : "");
}

/* What no URL may hold, anywhere; NULL if it is fine. */
static const char *check_characters(const char *text)
{
	for (; *text != '\0'; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte <= 0x20 || byte == 0x7f)
			return "it holds a blank or a control character; write %20 for a blank";
		if (byte > 0x7f)
			return "it holds a character beyond ASCII; percent-encode it, or in a host "
			       "name write the xn-- form";
		if (byte == '%' &&
			(!isxdigit((unsigned char)text[1]) || !isxdigit((unsigned char)text[2])))
			return "two hexadecimal digits must follow a '%'; write %25 for a percent "
			       "sign";
	}
	return NULL;
}

/* Fills all but shown from the text, which is a scheme's own. Returns what is wrong. */
static const char *take_apart(struct arena *arena, const char *text, struct conf_url *url)
{
	const char *start = strstr(text, "://");
	size_t scheme = start == NULL ? 0 : (size_t)(start - text);
	bool secure = scheme == 5 && strncasecmp(text, "https", 5) == 0;
	const char *authority, *at, *complaint;
	struct hostport place = {0};

	if (!secure && !(scheme == 4 && strncasecmp(text, "http", 4) == 0))
		return "it must start with http:// or https://";
	complaint = check_characters(text);
	if (complaint != NULL)
		return complaint;
	authority = arena_strndup(arena, start + 3, strcspn(start + 3, "/?#"));
	at = strrchr(authority, '@');
	complaint = hostport_parse(arena, at == NULL ? authority : at + 1, &place);
	if (complaint != NULL)
		return complaint;
	url->scheme = secure ? "https" : "http";
	url->host = place.host;
	url->port = place.port != 0 ? place.port : secure ? 443 : 80;
	url->text = text;
	return NULL;
}

static bool url_parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_url *url = member;
	struct conf_text text;
	const char *complaint;

	if (!field_scalar(load, field, node, &text))
		return false;
	complaint = take_apart(load->arena, text.text, url);
	if (complaint != NULL)
		return conf_error(load, node, "'%s': '%s' is not a URL that can be probed: %s",
			field->key, mask_doubtful(load->arena, text.shown), complaint);
	url->shown = mask(load->arena, text.shown);
	if (strchr(url->text, '#') != NULL)
		conf_warn_at(load, node->mark,
			"'%s': what stands behind '#' is never sent to a server; write %%23 for a "
			"'#' of the path",
			field->key);
	/* Nor is it shown, printed or compared. */
	url->text = arena_strndup(load->arena, url->text, strcspn(url->text, "#"));
	return true;
}

static void url_print(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct conf_url *url = member;

	(void)field;
	if (url->text != NULL)
		field_print_text(url->shown, stream);
}

static bool url_equal(const struct conf_field *field, const void *a, const void *b)
{
	(void)field;
	return field_same_text(
		((const struct conf_url *)a)->text, ((const struct conf_url *)b)->text);
}

static json_t *url_schema(const struct conf_field *field)
{
	(void)field;
	/* Scheme, user, host, port; then what may be sent as it is, and whole percent-encodings. */
	return json_pack("{s:s, s:s}", "type", "string", "pattern",
		"^[Hh][Tt]{2}[Pp][Ss]?://([^\\s/?#@]*@)?(\\[[0-9A-Fa-f:.]+(%[^\\]]+)?\\]|"
		"[^\\s/?#@:\\[\\]]+)(:[1-9][0-9]{0,4})?([/"
		"?#]([!-$&-~]|%[0-9A-Fa-f]{2})*)?$|\\$\\{");
}

const struct conf_kind conf_http_url = {
	.name = "a URL",
	.size = sizeof(struct conf_url),
	.parse = url_parse,
	.print = url_print,
	.equal = url_equal,
	.schema = url_schema,
};
