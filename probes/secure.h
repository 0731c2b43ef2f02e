/* SPDX-License-Identifier: MIT */
/* probes/secure.h: TLS on the stream of a probe, for every type that speaks over one. */
#ifndef PROBES_SECURE_H
#define PROBES_SECURE_H

#include "probes/probe.h"
#include "probes/stream.h"
#include "probes/tls_session.h"

/*
 * Begins TLS as the configuration says, entering its phase: its files are read if they
 * changed. The session is the run's, zero before. secured is called with the stream's
 * owner. NULL, or why it cannot begin (free()): REASON_TLS.
 */
char *secure_begin(struct probe *probe, struct stream *stream, struct tls_session *session,
	const struct tls_conf *conf, void (*secured)(void *owner));

/*
 * Why a stream ended with that error (not 0, not ENOBUFS): REASON_TLS where TLS never stood
 * or was refused, else REASON_CUT. *ret_text is borrowed, until the stream goes.
 */
enum probe_reason secure_end(const struct stream *stream, const struct tls_session *session,
	int error, const char **ret_text);

#endif
