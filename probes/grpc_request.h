/* SPDX-License-Identifier: MIT */
/* probes/grpc_request.h: every byte that a gRPC call sends. */
#ifndef PROBES_GRPC_REQUEST_H
#define PROBES_GRPC_REQUEST_H

#include <curl/curl.h>

#include "probes/grpc_conf.h"

/* With the secrets of this moment. A struct of zeroes is an empty one. */
struct grpc_request {
	size_t count; /* of lines */
	char **lines; /* one for each of the metadata; owned, wiped */
	struct curl_slist *list; /* as libcurl wants them; owned, but not what it points to */
	char *url, *timeout_line, *body; /* owned */
	size_t body_length;
};

/*
 * A call of a method of grpc.health.v1.Health. timeout, s: told to the server; 0: none.
 * NULL, or why a secret cannot be used, without its value (free()).
 */
char *grpc_request_init(struct grpc_request *request, const struct grpc_conf *conf,
	const char *method, double timeout);

/* Sets all on easy, which borrows from the request until the transfer has ended. */
void grpc_request_apply(CURL *easy, const struct grpc_request *request, bool tls);
void grpc_request_finish(struct grpc_request *request); /* wipes, frees; empty again */

#endif
