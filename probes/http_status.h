/* SPDX-License-Identifier: MIT */
/* probes/http_status.h: sets of HTTP status codes, as rows hold them. */
#ifndef PROBES_HTTP_STATUS_H
#define PROBES_HTTP_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "config/field.h"

/* RFC 9110, section 15: codes outside are invalid; no set holds them. */
#define HTTP_STATUS_MIN 100
#define HTTP_STATUS_MAX 599

struct http_statuses {
	uint64_t bits[(HTTP_STATUS_MAX - HTTP_STATUS_MIN) / 64 + 1];
};

bool http_statuses_have(const struct http_statuses *set, long status);
void http_statuses_add(struct http_statuses *set, long status); /* between MIN and MAX */
bool http_statuses_overlap(const struct http_statuses *a, const struct http_statuses *b);

/* Takes out of set what is in other. */
void http_statuses_subtract(struct http_statuses *set, const struct http_statuses *other);

/* A row kind: one of, or a list of, 204, 2xx and 200-299. Never empty. */
extern const struct conf_kind http_status_set;
#define HTTP_STATUSES(T, member, ...)                                                              \
	CONF_ROW(T, member, struct http_statuses, http_status_set, __VA_ARGS__)

#endif
