/* SPDX-License-Identifier: MIT */
/* runner/consul_tls.h: TLS to the agent: whom to trust, and who we are. */
#ifndef RUNNER_CONSUL_TLS_H
#define RUNNER_CONSUL_TLS_H

#include <curl/curl.h>
#include <stdbool.h>

#include "probes/tls_session.h"
#include "runner/consul_conf.h"

/* It outlives the connections that were made with it. */
struct consul_tls {
	bool used; /* the address is https */
	struct tls_conf conf; /* our own, with what is derived */
	struct tls_session session; /* of the newest connection; they are all alike */
	char *name; /* that the certificate has to be for */
};

void consul_tls_init(struct consul_tls *tls, const struct consul_conf *conf);
void consul_tls_finish(struct consul_tls *tls);

/* Reads the files that changed. NULL, or why one cannot be used (free()). */
char *consul_tls_refresh(struct consul_tls *tls);

void consul_tls_apply(struct consul_tls *tls, CURL *easy);

/*
 * Why a call failed, where TLS is the reason: one stable line (free()); else NULL.
 * *ret_refused: no request was taken, even where one was sent.
 */
char *consul_tls_failure(struct consul_tls *tls, CURL *easy, CURLcode result, bool *ret_refused);

#endif
