// SPDX-License-Identifier: MIT
/* The tcp probe: connects over all addresses; may send bytes and wait for a pattern. */
#include <errno.h>
#include <string.h>

#include "config/arena.h"
#include "probes/dial.h"
#include "probes/dial_address.h"
#include "probes/match.h"
#include "probes/probe.h"
#include "probes/stream.h"
#include "probes/stream_text.h"

#define LONGEST_TIMEOUT 10.0 /* s: Consul's own default for tcp checks */

struct tcp_conf {
	struct conf_address address;
	int ip; /* enum dial_family */
	struct stream_text send;
	const struct match *expect;
};

struct tcp_run {
	struct dial *dial;
	struct stream *stream;
	bool finished;
};

static void on_connecting(void *owner);
static void on_dialed(void *owner, int fd, enum probe_reason reason);
static void on_sent(void *owner);
static void on_received(void *owner);
static void on_ended(void *owner, int error);

/* In the order of enum dial_family. */
static const char *const families[] = {"any", "v4", "v6", NULL};

static const struct conf_field tcp_fields[] = {
	CONF_ADDRESS(struct tcp_conf, address, .flags = CONF_REQUIRED,
		.help = "HOST:PORT to connect to, or unix:///PATH"),
	CONF_CHOICE(struct tcp_conf, ip, .choices = families, .fallback = "any",
		.help = "Which addresses of a name are tried: any, v4 or v6"),
	STREAM_TEXT(struct tcp_conf, send,
		.help = "Text sent once connected, with the escapes \\n \\r \\t \\xHH \\\\"),
	MATCH_PATTERN(struct tcp_conf, expect,
		.help = "Regular expression that what comes back must match, in its first 64 KiB"),
	{0},
};

static char *tcp_target(const void *conf)
{
	const struct tcp_conf *tcp = conf;

	return xstrdup(tcp->address.shown);
}

static void tcp_start(struct probe *probe)
{
	const struct tcp_conf *conf = probe_conf(probe);
	struct tcp_run *run = probe_run(probe);
	struct sockaddr_storage address;

	if (conf->address.path == NULL && !address_parse(conf->address.host, &address))
		probe_phase(probe, PHASE_RESOLVE);
	run->dial = dial_start(&(struct dial_setup){
		.loop = probe_loop(probe),
		.trace = probe_tracer(probe),
		.address = &conf->address,
		.family = (enum dial_family)conf->ip,
		.timeout = probe_timeout(probe),
		.connecting = on_connecting,
		.done = on_dialed,
		.owner = run,
	});
}

static void on_connecting(void *owner)
{
	probe_phase(probe_of_run(owner), PHASE_CONNECT);
}

static void pass(struct tcp_run *run)
{
	run->finished = true;
	probe_finish(probe_of_run(run), PROBE_PASSING, REASON_NONE, "connected to %s",
		dial_peer(run->dial));
}

static void on_dialed(void *owner, int fd, enum probe_reason reason)
{
	struct tcp_run *run = owner;
	struct probe *probe = probe_of_run(run);
	const struct tcp_conf *conf = probe_conf(probe);

	if (fd < 0) {
		run->finished = true;
		probe_finish(probe, PROBE_CRITICAL, reason, "%s", dial_report(run->dial));
		return;
	}
	if (conf->send.bytes == NULL && conf->expect == NULL) {
		stream_close(fd);
		pass(run);
		return;
	}
	probe_phase(probe, PHASE_SEND);
	run->stream = stream_create(&(struct stream_setup){
		.loop = probe_loop(probe),
		.take_fd = fd,
		.sent = on_sent,
		.received = on_received,
		.ended = on_ended,
		.owner = run,
	});
	if (conf->send.bytes != NULL)
		stream_send(run->stream, conf->send.bytes, conf->send.length);
}

static void on_sent(void *owner)
{
	struct tcp_run *run = owner;
	const struct tcp_conf *conf = probe_conf(probe_of_run(run));

	if (conf->expect == NULL && !run->finished)
		pass(run);
}

/* What came back is the output wherever it was not what was wanted. */
static void show_received(struct tcp_run *run)
{
	size_t length;
	const char *bytes = stream_bytes(run->stream, &length);

	probe_output(probe_of_run(run), bytes, length);
}

static void on_received(void *owner)
{
	struct tcp_run *run = owner;
	struct probe *probe = probe_of_run(run);
	const struct tcp_conf *conf = probe_conf(probe);
	const char *error = NULL;
	const char *bytes;
	size_t length;

	if (run->finished || conf->expect == NULL)
		return;
	probe_phase(probe, PHASE_RECEIVE);
	bytes = stream_bytes(run->stream, &length);
	switch (match_bytes(conf->expect, bytes, length, &error)) {
	case MATCH_YES:
		pass(run);
		break;
	case MATCH_ERROR:
		run->finished = true;
		show_received(run);
		probe_finish(probe, PROBE_CRITICAL, REASON_ENGINE, "'expect': %s", error);
		break;
	case MATCH_NO:
		break;
	}
}

static void on_ended(void *owner, int error)
{
	struct tcp_run *run = owner;
	struct probe *probe = probe_of_run(run);
	size_t length;

	if (run->finished)
		return;
	run->finished = true;
	show_received(run);
	(void)stream_bytes(run->stream, &length);
	if (error == ENOBUFS)
		probe_finish(probe, PROBE_CRITICAL, REASON_ENGINE,
			"'expect' not found in the first 64 KiB");
	else if (error != 0)
		probe_finish(probe, PROBE_CRITICAL, REASON_CUT, "%s", strerror(error));
	else if (length == 0)
		probe_finish(probe, PROBE_CRITICAL, REASON_CUT,
			"connection closed before anything was received");
	else
		probe_finish(probe, PROBE_CRITICAL, REASON_MATCH,
			"'expect' not found before the connection was closed");
}

static void tcp_expire(struct probe *probe)
{
	struct tcp_run *run = probe_run(probe);
	size_t length;

	if (run->stream == NULL) {
		probe_seen(probe, "%s", dial_report(run->dial));
		return;
	}
	show_received(run);
	(void)stream_bytes(run->stream, &length);
	probe_seen(probe, "connected to %s, %s", dial_peer(run->dial),
		length > 0 ? "'expect' not found" : "nothing received");
}

static void tcp_cancel(struct probe *probe)
{
	struct tcp_run *run = probe_run(probe);

	stream_destroy(run->stream);
	run->stream = NULL;
	dial_destroy(run->dial);
	run->dial = NULL;
}

const struct probe_type probe_tcp = {
	.conf =
		{
			.name = "tcp",
			.summary = "Opens a TCP connection",
			.fields = tcp_fields,
			.size = sizeof(struct tcp_conf),
			.shorthand = "address",
		},
	.run_size = sizeof(struct tcp_run),
	.longest_timeout = LONGEST_TIMEOUT,
	.target = tcp_target,
	.start = tcp_start,
	.expire = tcp_expire,
	.cancel = tcp_cancel,
};
