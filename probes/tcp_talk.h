/* SPDX-License-Identifier: MIT */
/* probes/tcp_talk.h: one run of a tcp probe, and its conversation; between tcp*.c only. */
#ifndef PROBES_TCP_TALK_H
#define PROBES_TCP_TALK_H

#include "probes/dial.h"
#include "probes/probe.h"
#include "probes/stream.h"
#include "probes/tcp_conf.h"
#include "probes/tls_session.h"

struct tcp_run {
	struct dial *dial;
	struct stream *stream;
	struct tls_session tls;
	ev_timer quiet;
	size_t step; /* the next one */
	bool second; /* ip: both, and the first family is done */
	bool securing; /* TLS has begun and is not there yet */
	bool heard; /* something came back */
	bool finished;
	char *first_peer; /* of the first family; NULL before */
};

void tcp_talk_init(struct tcp_run *run);

/* The conversation over a connected socket, which becomes the run's; ends in one of the two. */
void tcp_talk_begin(struct tcp_run *run, int take_fd);

/* tcp.c: the conversation was as it should be; the run goes on or passes. */
void tcp_conclude(struct tcp_run *run);

/* tcp.c: ends the run; where both families are tried it says which one failed. */
void tcp_fail(struct tcp_run *run, enum probe_reason reason, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* At the deadline, inside a conversation: how far it is. */
void tcp_talk_expire(struct tcp_run *run);

#endif
