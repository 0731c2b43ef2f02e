// SPDX-License-Identifier: MIT
/* URLs taken apart and compared, and the rules for redirects. */
#include "probes/http_place.h"

#include <ctype.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/arena.h"
#include "probes/secret.h"

/* Redirects in one run. Real chains have one or two; a loop has no end. */
#define MOST_REDIRECTS 5

/* Bytes of a URL in a message: the reader must see host and path, not the whole of it. */
#define SHOWN_MAX 256

#define ELLIPSIS "\xe2\x80\xa6" /* U+2026 */

/* A part of a URL in our own memory, wiped in libcurl's; NULL if it has none. */
static char *take_part(CURLU *url, CURLUPart part, unsigned int flags)
{
	char *theirs = NULL, *ours;

	if (curl_url_get(url, part, &theirs, flags) != CURLUE_OK)
		return NULL;
	ours = xstrdup(theirs);
	explicit_bzero(theirs, strlen(theirs));
	curl_free(theirs);
	return ours;
}

/* Bytes of "https:" at the start of text; 0 if it begins with no scheme. */
static size_t scheme_length(const char *text)
{
	size_t length = 0;

	while (isalnum((unsigned char)text[length]) || text[length] == '+' || text[length] == '-' ||
		text[length] == '.')
		length++;
	return isalpha((unsigned char)text[0]) && text[length] == ':' ? length + 1 : 0;
}

/* True for "mailto:x" and its kind, which libcurl takes for a relative path. */
static bool is_opaque(const char *text)
{
	size_t length = scheme_length(text);

	return length > 0 && strncmp(text + length, "//", 2) != 0;
}

/* "fe80::1%eth0" out of "[fe80::1]" and "eth0". */
static char *take_host(CURLU *url)
{
	char *host = take_part(url, CURLUPART_HOST, 0);
	char *zone = take_part(url, CURLUPART_ZONEID, 0);
	char *bare = NULL;
	size_t length = host == NULL ? 0 : strlen(host);

	if (length > 2 && host[0] == '[')
		bare = xprintf("%.*s%s%s", (int)length - 2, host + 1, zone == NULL ? "" : "%",
			zone == NULL ? "" : zone);
	else if (length > 0)
		bare = xstrdup(host);
	free(host);
	free(zone);
	return bare;
}

static bool take_apart(CURLU *url, struct http_place *place, struct http_login *ret_login)
{
	char *scheme = take_part(url, CURLUPART_SCHEME, 0);
	char *port = take_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);

	place->tls = scheme != NULL && strcmp(scheme, "https") == 0;
	place->foreign = scheme != NULL && !place->tls && strcmp(scheme, "http") != 0;
	place->port = port == NULL ? 0 : (unsigned int)strtoul(port, NULL, 10);
	free(scheme);
	free(port);
	if (place->foreign)
		return true;
	if (ret_login != NULL) {
		ret_login->user = take_part(url, CURLUPART_USER, CURLU_URLDECODE);
		ret_login->password = take_part(url, CURLUPART_PASSWORD, CURLU_URLDECODE);
	}
	(void)curl_url_set(url, CURLUPART_USER, NULL, 0);
	(void)curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
	(void)curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0);
	place->host = take_host(url);
	place->url = take_part(url, CURLUPART_URL, CURLU_NO_DEFAULT_PORT);
	return place->host != NULL && place->url != NULL;
}

bool http_place_parse(const char *text, const char *base, struct http_place *ret_place,
	struct http_login *ret_login)
{
	unsigned int flags = CURLU_PATH_AS_IS | CURLU_NON_SUPPORT_SCHEME;
	CURLU *url = curl_url();
	struct http_place place = {0};
	struct http_login login = {0};
	bool fine;

	if (url == NULL)
		xfail();
	if (is_opaque(text)) {
		place.foreign = true;
		fine = true;
	} else {
		if (base != NULL) {
			(void)curl_url_set(url, CURLUPART_URL, base, CURLU_PATH_AS_IS);
			flags |= CURLU_URLENCODE | CURLU_ALLOW_SPACE;
		}
		fine = curl_url_set(url, CURLUPART_URL, text, flags) == CURLUE_OK &&
			take_apart(url, &place, &login);
	}
	curl_url_cleanup(url);
	if (fine)
		*ret_place = place;
	else
		http_place_finish(&place);
	if (fine && ret_login != NULL)
		*ret_login = login;
	else
		http_login_finish(&login);
	return fine;
}

void http_place_finish(struct http_place *place)
{
	free(place->url);
	free(place->host);
	*place = (struct http_place){0};
}

void http_login_finish(struct http_login *login)
{
	secret_free(login->user);
	secret_free(login->password);
	*login = (struct http_login){0};
}

char *http_place_renamed(const struct http_place *place, const char *name)
{
	bool bare_v6 = strchr(name, ':') != NULL && *name != '[';
	char *host = xprintf("%s%s%s", bare_v6 ? "[" : "", name, bare_v6 ? "]" : "");
	CURLU *url = curl_url();
	char *renamed = NULL;

	if (url == NULL)
		xfail();
	/* The whole is read once more: a host set alone is not looked at closely. */
	if (strpbrk(name, "/?#@%\\ ") == NULL &&
		curl_url_set(url, CURLUPART_URL, place->url, CURLU_PATH_AS_IS) == CURLUE_OK &&
		curl_url_set(url, CURLUPART_ZONEID, NULL, 0) == CURLUE_OK &&
		curl_url_set(url, CURLUPART_HOST, host, 0) == CURLUE_OK)
		renamed = take_part(url, CURLUPART_URL, CURLU_NO_DEFAULT_PORT);
	if (renamed != NULL &&
		curl_url_set(url, CURLUPART_URL, renamed, CURLU_PATH_AS_IS) != CURLUE_OK) {
		free(renamed);
		renamed = NULL;
	}
	curl_url_cleanup(url);
	free(host);
	return renamed;
}

char *http_place_authority(const struct http_place *place)
{
	const char *start = strstr(place->url, "://") + 3;

	return xstrndup(start, strcspn(start, "/?#"));
}

bool http_place_same(const struct http_place *a, const struct http_place *b)
{
	return a->tls == b->tls && a->port == b->port && strcasecmp(a->host, b->host) == 0;
}

/* "user:***@" in place of the login at the start of an authority, in new memory. */
static char *redact_login(const char *authority, size_t length)
{
	const char *end = memrchr(authority, '@', length);
	const char *colon = end == NULL ? NULL : memchr(authority, ':', (size_t)(end - authority));

	if (end == NULL)
		return xstrndup(authority, length);
	/* A user without a password is often a token: it is not shown either. */
	return xprintf("%.*s***%.*s", colon == NULL ? 0 : (int)(colon + 1 - authority), authority,
		(int)(authority + length - end), end);
}

char *http_redact(const char *text)
{
	/* All slashes: libcurl takes three of them for two. */
	size_t slashes = strspn(text + scheme_length(text), "/");
	size_t before = slashes < 2 ? 0 : scheme_length(text) + slashes;
	size_t inside = slashes < 2 ? 0 : strcspn(text + before, "/?#");
	const char *path = text + before + inside;
	size_t length = strcspn(path, "?#");
	bool cut = before + inside + length > SHOWN_MAX;
	const char *more = "";
	char *authority, *shown;

	if (is_opaque(text))
		return xprintf("%.*s:" ELLIPSIS, (int)strcspn(text, ":"), text);
	if (cut)
		length = before + inside > SHOWN_MAX ? 0 : SHOWN_MAX - before - inside;
	authority = redact_login(text + before, inside);
	if (cut || path[length] == '?')
		more = cut ? ELLIPSIS : "?" ELLIPSIS;
	shown = xprintf(
		"%.*s%.*s%.*s%s", (int)before, text, SHOWN_MAX, authority, (int)length, path, more);
	free(authority);
	return shown;
}

bool http_is_redirect(long status)
{
	return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

/* The one way that is no other place: the same host, from http on its port to https on its port. */
static bool is_upgrade(const struct http_place *from, const struct http_place *to)
{
	return !from->tls && from->port == 80 && to->tls && to->port == 443 &&
		strcasecmp(from->host, to->host) == 0;
}

const char *http_refusal(enum http_redirects redirects, const struct http_place *from,
	const struct http_place *to, unsigned int count)
{
	if (redirects == HTTP_NONE)
		return "no redirect is followed";
	if (to->foreign)
		return "only http and https are followed";
	if (from->tls && !to->tls)
		return "never from https to http";
	if (redirects == HTTP_SAME_HOST && !http_place_same(from, to) && !is_upgrade(from, to))
		return "another scheme, host or port";
	if (count >= MOST_REDIRECTS)
		return "one redirect too many";
	return NULL;
}

const char *http_redirected_method(const char *method, long status)
{
	bool was_post = strcmp(method, "POST") == 0;

	if (status == 303 && strcmp(method, "HEAD") != 0)
		return "GET";
	return (status == 301 || status == 302) && was_post ? "GET" : method;
}
