/* SPDX-License-Identifier: MIT */
/* probes/http_body.h: the body of a request: as written, of a form, or JSON. */
#ifndef PROBES_HTTP_BODY_H
#define PROBES_HTTP_BODY_H

#include "config/field.h"

struct http_json {
	const char *text; /* compact JSON; NULL if absent */
	const char *shown; /* the same, what came from the environment as *** */
};

/*
 * A row kind: any map or list of YAML as JSON. Scalars are typed as JSON is where they
 * stand without quotes: 5, true, null; everything else is text.
 */
extern const struct conf_kind http_json;
#define HTTP_JSON(T, member, ...) CONF_ROW(T, member, struct http_json, http_json, __VA_ARGS__)

/*
 * A form as application/x-www-form-urlencoded (WHATWG URL, section 5.2), with the secrets of
 * this moment; secret_free() wipes and frees it. NULL where one cannot be read, and
 * *ret_error says why, without its value (free()).
 */
char *http_form_encode(const struct conf_pairs *form, char **ret_error);

#endif
