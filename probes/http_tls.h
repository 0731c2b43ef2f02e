/* SPDX-License-Identifier: MIT */
/* probes/http_tls.h: TLS of an HTTP probe: libcurl's handshakes by our rules. */
#ifndef PROBES_HTTP_TLS_H
#define PROBES_HTTP_TLS_H

#include <curl/curl.h>

#include "probes/tls_session.h"

/*
 * Has easy verify servers as session->conf says, and the session filled. It outlives the
 * transfer; tls_session_refresh() has succeeded.
 */
void http_tls_apply(CURL *easy, struct tls_session *session);

#endif
