// SPDX-License-Identifier: MIT
/* TLS on the stream of a probe: how it begins, and why it ended. */
#include "probes/secure.h"

#include <errno.h>
#include <string.h>

char *secure_begin(struct probe *probe, struct stream *stream, struct tls_session *session,
	const struct tls_conf *conf, void (*secured)(void *owner))
{
	char *problem = tls_session_refresh(conf);

	probe_phase(probe, PHASE_TLS);
	session->conf = conf;
	session->trace = probe_tracer(probe);
	if (problem == NULL)
		problem = stream_start_tls(stream,
			&(struct stream_tls){
				.session = session, .name = conf->name, .secured = secured});
	return problem;
}

enum probe_reason secure_end(const struct stream *stream, const struct tls_session *session,
	int error, const char **ret_text)
{
	const char *problem = stream_problem(stream);

	if (error != EPROTO || *problem == '\0') {
		*ret_text = strerror(error);
		return REASON_CUT;
	}
	*ret_text = problem;
	return session->verified && session->alert == NULL ? REASON_CUT : REASON_TLS;
}
