/* SPDX-License-Identifier: MIT */
/* probes/http_place.h: where a request goes, and where a redirect may send it. Pure. */
#ifndef PROBES_HTTP_PLACE_H
#define PROBES_HTTP_PLACE_H

#include <stdbool.h>

/* A URL taken apart. A struct of zeroes is an empty one. */
struct http_place {
	char *url; /* as sent: path as written; no user, no fragment, no default port */
	char *host; /* without brackets, with the zone of a link-local address */
	unsigned int port;
	bool tls;
	bool foreign; /* neither http nor https; then there is nothing else */
};

/* Who is meant to be let in, out of the URL's own user part; NULL where it has none. */
struct http_login {
	char *user, *password;
};

/*
 * Takes text apart; seen from base (a place's URL; may be NULL) if it is relative. Spaces
 * and bytes outside ASCII are encoded only where there is a base: a server may send them. False
 * if it is not a URL; *ret_place is then untouched. ret_login may be NULL.
 */
bool http_place_parse(const char *text, const char *base, struct http_place *ret_place,
	struct http_login *ret_login);
void http_place_finish(struct http_place *place); /* frees what it holds; empty again */
void http_login_finish(struct http_login *login); /* wipes and frees */

/* The same URL with another host; NULL if name cannot be one. free(). */
char *http_place_renamed(const struct http_place *place, const char *name);

/* The value of Host: for a place. free(). */
char *http_place_authority(const struct http_place *place);

/* Same scheme, host and port. */
bool http_place_same(const struct http_place *a, const struct http_place *b);

/* Any text that may be a URL, safe to show: user:***@, ?…, no fragment. free(). */
char *http_redact(const char *text);

enum http_redirects { /* in the order of the row's choices */
	HTTP_SAME_HOST,
	HTTP_FOLLOW,
	HTTP_NONE,
};

/* RFC 9110, section 15.4: the codes that send the request to its Location. */
bool http_is_redirect(long status);

/* Why `to` must not be asked after `count` redirects; static text, NULL if it may be. */
const char *http_refusal(enum http_redirects redirects, const struct http_place *from,
	const struct http_place *to, unsigned int count);

/* The method after a redirect (RFC 9110, 15.4): itself, or "GET", and then there is no body. */
const char *http_redirected_method(const char *method, long status);

#endif
