/* SPDX-License-Identifier: MIT */
/* probes/dns_run.h: one run of a dns probe, between dns*.c only. */
#ifndef PROBES_DNS_RUN_H
#define PROBES_DNS_RUN_H

#include "probes/dial.h"
#include "probes/dns_conf.h"
#include "probes/probe.h"
#include "probes/resolve.h"
#include "probes/stream.h"

/* s until a question over UDP is sent once more: one packet that is lost is no fault. */
#define DNS_RETRANSMIT 1.0

/*
 * s that one of several servers is waited for before the next one is asked: its answer, and
 * the one to a question sent again. Less where they could not all have their turn.
 */
#define DNS_PATIENCE 2.0

#define DNS_MOST_SERVERS 16 /* addresses of a name, as many as dial tries */

struct dns_server {
	struct sockaddr_storage address;
	bool asked;
	bool failed; /* it is not asked again in this run */
	enum probe_reason reason; /* and why */
	char *how; /* the same as text; owned */
	bool foreign; /* something came that answered another question */
	bool truncated; /* its answer over UDP was */
};

struct dns_run {
	struct resolve_query *lookup; /* of the server's name */
	struct dns_server *servers; /* owned */
	size_t count;
	size_t at; /* the one that is being asked; or that ended the run */
	struct dns_query query;
	ev_timer patience;
	bool finished;

	/* dns_udp.c */
	ev_io datagram;
	ev_timer again;

	/* dns_tcp.c */
	struct dial *dial;
	struct stream *stream;
	struct conf_address address; /* of the dial */
	char *host;
	size_t expected; /* bytes of the answer; 0: nobody knows yet */
};

void dns_udp_init(struct dns_run *run);
int dns_udp_start(struct dns_run *run); /* 0, or an errno: the server is not asked */
enum probe_reason dns_udp_reason(int error); /* what such an errno means */
void dns_udp_stop(struct dns_run *run);

void dns_tcp_start(struct dns_run *run);
void dns_tcp_stop(struct dns_run *run);
const char *dns_tcp_state(const struct dns_run *run); /* "connected, no answer" */

/* dns.c: a whole message came; DNS_FOREIGN where it is not the answer. May start and stop anything.
 */
enum dns_reading dns_heard(struct dns_run *run, const struct dns_bytes *message);

/* dns.c: the server that is asked has failed; the next one, or the end. */
void dns_server_failed(struct dns_run *run, enum probe_reason reason, const char *how);

#endif
