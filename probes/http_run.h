/* SPDX-License-Identifier: MIT */
/* probes/http_run.h: one run of an HTTP probe, between http.c and http_connect.c only. */
#ifndef PROBES_HTTP_RUN_H
#define PROBES_HTTP_RUN_H

#include "probes/curlev.h"
#include "probes/dial.h"
#include "probes/http_answer.h"
#include "probes/http_judge.h"
#include "probes/http_request.h"
#include "probes/http_tls.h"
#include "probes/probe.h"

struct http_run {
	struct curlev_transfer transfer; /* first, so that it leads back to the run */
	struct curlev *curlev; /* where it runs */
	CURL *easy; /* NULL where nothing is transferred */
	struct dial *dial;
	struct conf_address address;
	bool connecting; /* the name is looked up */
	bool named; /* it had to be looked up */
	bool ready; /* connected, and the handshake is over */
	struct http_ready on_ready;
	bool reused; /* over a connection of an earlier run */
	bool second; /* ip: both, and IPv4 is done */
	struct tls_session own_tls, *tls; /* tls: own_tls, or that of a kept connection */
	struct http_request request;
	struct http_answer answer;
	struct http_place place; /* where a redirect led to; empty before the first */
	char *moved; /* the same, as it may be shown; NULL before the first */
	unsigned int redirects;
	struct http_verdict first; /* ip: both: what came over IPv4 */
};

/* http_connect.c: goes to where the request goes now, over the connection that it is to have. */
void http_begin(struct http_run *run);

/* http_connect.c: ends what is transferred, if anything is. */
void http_stop(struct http_run *run);

/* http.c: the transfer is over. */
void http_done(struct curlev_transfer *transfer, CURLcode result);

/* http.c: the end of a run that has no answer to judge. */
void http_fail(struct http_run *run, enum probe_reason reason, const char *text);

#endif
