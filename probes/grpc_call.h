/* SPDX-License-Identifier: MIT */
/* probes/grpc_call.h: one call of grpc.health.v1.Health, from the lookup to the verdict. */
#ifndef PROBES_GRPC_CALL_H
#define PROBES_GRPC_CALL_H

#include "probes/curlev.h"
#include "probes/dial.h"
#include "probes/grpc_answer.h"
#include "probes/grpc_conf.h"
#include "probes/grpc_look.h"
#include "probes/grpc_request.h"
#include "probes/http_tls.h"

struct grpc_call_setup {
	struct ev_loop *loop;
	struct trace *trace; /* NULL: nobody asked */
	const struct grpc_conf *conf; /* outlives the call */
	const char *method; /* "Check", or with message "Watch" */
	double timeout; /* of the whole call, s, which the caller keeps; 0: none */

	void (*entered)(void *owner, enum probe_phase phase); /* may be NULL */

	/*
	 * A message of a call that may have any number of them; call->answer holds it. From
	 * inside libcurl, which must not be called. NULL: the call has one, for the verdict.
	 */
	void (*message)(void *owner);

	/*
	 * Ends the call, which may be finished or started again from here. May come from inside
	 * grpc_call_start(). The callee frees the text.
	 */
	void (*ended)(void *owner, struct grpc_verdict take_verdict);
	void *owner;
};

/* A member of the caller's, never moved. A struct of zeroes is an idle one. */
struct grpc_call {
	struct curlev_transfer transfer; /* first, so that it leads back to the call */
	struct grpc_call_setup setup;
	struct curlev *curlev;
	CURL *easy; /* NULL where nothing is transferred */
	struct dial *dial; /* NULL before, and over a unix socket */
	struct grpc_look look;
	struct http_ready on_ready;
	bool ready; /* connected, and the handshake is over */
	bool other_version; /* TLS, but no HTTP/2 */
	struct tls_session tls;
	struct grpc_request request;
	struct grpc_answer answer;
};

void grpc_call_start(struct grpc_call *call, const struct grpc_call_setup *setup);

/* How far it is, one stable line. free(). */
char *grpc_call_progress(struct grpc_call *call);

void grpc_call_finish(struct grpc_call *call); /* ends what runs; idle again; idempotent */

#endif
