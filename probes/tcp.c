// SPDX-License-Identifier: MIT
/* The tcp probe: connects over all addresses; may speak TLS and hold a conversation. */
#include <stdlib.h>

#include "config/arena.h"
#include "probes/dial_address.h"
#include "probes/tcp_talk.h"

#define LONGEST_TIMEOUT 10.0 /* s: Consul's own default for tcp checks */

static void on_connecting(void *owner);
static void on_dialed(void *owner, int fd, enum probe_reason reason);

static char *tcp_target(const void *conf)
{
	const struct tcp_conf *tcp = conf;

	return xstrdup(tcp->address.shown);
}

void tcp_fail(struct tcp_run *run, enum probe_reason reason, const char *format, ...)
{
	const struct tcp_conf *conf = probe_conf(probe_of_run(run));
	const char *family = conf->ip != TCP_IP_BOTH ? "" : run->second ? "IPv6: " : "IPv4: ";
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = xvprintf(format, arguments);
	va_end(arguments);
	run->finished = true;
	ev_timer_stop(probe_loop(probe_of_run(run)), &run->quiet);
	probe_finish(probe_of_run(run), PROBE_CRITICAL, reason, "%s%s", family, text);
	free(text);
}

static void dial(struct tcp_run *run)
{
	static const enum dial_family families[] = {DIAL_ANY, DIAL_V4, DIAL_V6, DIAL_V4};
	struct probe *probe = probe_of_run(run);
	const struct tcp_conf *conf = probe_conf(probe);
	struct sockaddr_storage address;

	if (conf->address.path == NULL && !address_parse(conf->address.host, &address))
		probe_phase(probe, PHASE_RESOLVE);
	run->step = 0;
	run->dial = dial_start(&(struct dial_setup){
		.loop = probe_loop(probe),
		.trace = probe_tracer(probe),
		.address = &conf->address,
		.family = run->second ? DIAL_V6 : families[conf->ip],
		.timeout = probe_timeout(probe),
		.connecting = on_connecting,
		.done = on_dialed,
		.owner = run,
	});
}

static void tcp_start(struct probe *probe)
{
	struct tcp_run *run = probe_run(probe);

	tcp_talk_init(run);
	dial(run);
}

static void on_connecting(void *owner)
{
	probe_phase(probe_of_run(owner), PHASE_CONNECT);
}

static void hang_up(struct tcp_run *run)
{
	stream_destroy(run->stream);
	run->stream = NULL;
	tls_session_finish(&run->tls);
	dial_destroy(run->dial);
	run->dial = NULL;
}

static void pass(struct tcp_run *run)
{
	char *text = NULL;
	enum tls_expiry expiry = TLS_EXPIRY_FAR;

	if (run->tls.verified)
		expiry = tls_session_expiry(&run->tls, &text);
	if (expiry == TLS_EXPIRY_CRITICAL) {
		tcp_fail(run, REASON_EXPIRY, "%s", text);
	} else {
		run->finished = true;
		probe_finish(probe_of_run(run), PROBE_PASSING, REASON_NONE,
			"connected to %s%s%s%s%s", run->first_peer == NULL ? "" : run->first_peer,
			run->first_peer == NULL ? "" : " and ", dial_peer(run->dial),
			text == NULL ? "" : "; ", text == NULL ? "" : text);
	}
	free(text);
}

void tcp_conclude(struct tcp_run *run)
{
	const struct tcp_conf *conf = probe_conf(probe_of_run(run));

	ev_timer_stop(probe_loop(probe_of_run(run)), &run->quiet);
	if (conf->ip != TCP_IP_BOTH || run->second) {
		pass(run);
		return;
	}
	run->first_peer = xstrdup(dial_peer(run->dial));
	hang_up(run);
	run->second = true;
	dial(run);
}

static void on_dialed(void *owner, int fd, enum probe_reason reason)
{
	struct tcp_run *run = owner;
	struct probe *probe = probe_of_run(run);
	const struct tcp_conf *conf = probe_conf(probe);

	if (fd < 0) {
		tcp_fail(run, reason, "%s", dial_report(run->dial));
		return;
	}
	if (conf->script_length == 0 && !conf->tls_first) {
		stream_close(fd);
		tcp_conclude(run);
		return;
	}
	tcp_talk_begin(run, fd);
}

static void tcp_expire(struct probe *probe)
{
	struct tcp_run *run = probe_run(probe);

	if (run->stream == NULL)
		probe_seen(probe, "%s", dial_report(run->dial));
	else
		tcp_talk_expire(run);
}

static void tcp_cancel(struct probe *probe)
{
	struct tcp_run *run = probe_run(probe);

	ev_timer_stop(probe_loop(probe), &run->quiet);
	hang_up(run);
	free(run->first_peer);
	run->first_peer = NULL;
}

const struct probe_type probe_tcp = {
	.conf =
		{
			.name = "tcp",
			.summary = "Opens a TCP connection, and may hold a conversation over it",
			.fields = tcp_fields,
			.size = sizeof(struct tcp_conf),
			.shorthand = "address",
			.check = tcp_check,
			.example = "consul: off\n"
				   "checks:\n"
				   "  - name: mail\n"
				   "    node: true\n"
				   "    tcp:\n"
				   "      address: 127.0.0.1:25\n"
				   "      steps:\n"
				   "        - {expect: '^220 ', reject: '^[45]'}\n"
				   "        - send: 'QUIT\\r\\n'\n"
				   "        - expect: '^221 '\n",
		},
	.run_size = sizeof(struct tcp_run),
	.longest_timeout = LONGEST_TIMEOUT,
	.target = tcp_target,
	.start = tcp_start,
	.expire = tcp_expire,
	.cancel = tcp_cancel,
};
