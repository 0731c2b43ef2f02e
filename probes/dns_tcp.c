// SPDX-License-Identifier: MIT
/* A DNS question over TCP: each message behind its length (RFC 7766). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/dial_address.h"
#include "probes/dns_run.h"

#define PREFIX 2 /* bytes */

/* id and flags: enough to see that somebody speaks another protocol. */
#define BEGINNING 4

static void on_connecting(void *owner)
{
	probe_phase(probe_of_run(owner), PHASE_CONNECT);
}

/* Bytes that cannot become an answer: nobody else may write on this connection. */
static bool is_foreign(const struct dns_run *run, const unsigned char *bytes, size_t length)
{
	return length >= BEGINNING &&
		(memcmp(bytes, run->query.bytes, 2) != 0 || (bytes[2] & 0x80) == 0);
}

/*
 * Somebody speaks, but not of this question. Where that is text its beginning says what is
 * there; of bytes nothing is shown, since our id may be among them.
 */
static void fail_as_foreign(struct dns_run *run, const unsigned char *bytes, size_t length)
{
	char *how;

	for (size_t i = 0; i < length; i++) {
		if (bytes[i] < ' ' || bytes[i] > '~')
			length = 0;
	}
	how = xprintf("did not send an answer of DNS to the question%s%.*s%s",
		length > 0 ? " but '" : "", (int)length, (const char *)bytes,
		length > 0 ? "'" : "");
	dns_server_failed(run, REASON_PROTOCOL, how);
	free(how);
}

static void on_received(void *owner)
{
	struct dns_run *run = owner;
	size_t length;
	const unsigned char *bytes = (const unsigned char *)stream_bytes(run->stream, &length);
	struct dns_bytes message;

	probe_phase(probe_of_run(run), PHASE_RECEIVE);
	if (length < PREFIX && run->expected == 0)
		return;
	if (run->expected == 0) {
		message = (struct dns_bytes){.bytes = bytes, .length = length};
		/* Looked at before the length is used up, so that it can be shown. */
		if (is_foreign(run, bytes + PREFIX, length - PREFIX)) {
			/* No more than this: how much has come by now is chance. */
			fail_as_foreign(run, bytes, PREFIX + BEGINNING);
			return;
		}
		if (length < PREFIX + BEGINNING)
			return;
		run->expected = dns_get16(&message, 0);
		stream_consume(run->stream, PREFIX);
		bytes = (const unsigned char *)stream_bytes(run->stream, &length);
	}
	if (length < run->expected)
		return;
	message = (struct dns_bytes){.bytes = bytes, .length = run->expected};
	if (dns_heard(run, &message) == DNS_FOREIGN)
		fail_as_foreign(run, bytes, 0);
}

static void on_ended(void *owner, int error)
{
	struct dns_run *run = owner;
	size_t length;

	(void)stream_bytes(run->stream, &length);
	dns_server_failed(run, REASON_CUT,
		error != 0           ? strerror(error)
			: length > 0 ? "closed the connection in the middle of an answer"
				     : "closed the connection before an answer");
}

static void on_dialed(void *owner, int fd, enum probe_reason reason)
{
	struct dns_run *run = owner;
	unsigned char prefix[PREFIX];

	if (fd < 0) {
		/* "127.0.0.1:53 Connection refused": its address stands before it anyhow. */
		const char *how = strchr(dial_report(run->dial), ' ');

		dns_server_failed(run, reason, how == NULL ? "no connection" : how + 1);
		return;
	}
	run->stream = stream_create(&(struct stream_setup){
		.loop = probe_loop(probe_of_run(run)),
		.take_fd = fd,
		.received = on_received,
		.ended = on_ended,
		.owner = run,
	});
	/* In one piece: RFC 7766, section 8. */
	prefix[0] = (unsigned char)(run->query.length >> 8);
	prefix[1] = (unsigned char)run->query.length;
	stream_send(run->stream, prefix, sizeof(prefix));
	stream_send(run->stream, run->query.bytes, run->query.length);
	probe_phase(probe_of_run(run), PHASE_SEND);
}

void dns_tcp_start(struct dns_run *run)
{
	const struct sockaddr_storage *server = &run->servers[run->at].address;

	run->expected = 0;
	run->host = address_show_host(server);
	run->address = (struct conf_address){.host = run->host, .port = address_port(server)};
	run->dial = dial_start(&(struct dial_setup){
		.loop = probe_loop(probe_of_run(run)),
		.trace = probe_tracer(probe_of_run(run)),
		.address = &run->address,
		.timeout = probe_timeout(probe_of_run(run)),
		.connecting = on_connecting,
		.done = on_dialed,
		.owner = run,
	});
}

const char *dns_tcp_state(const struct dns_run *run)
{
	size_t length = 0;

	if (run->stream == NULL)
		return "no connection";
	(void)stream_bytes(run->stream, &length);
	return run->expected > 0 || length > 0 ? "connected, answer incomplete"
					       : "connected, no answer";
}

void dns_tcp_stop(struct dns_run *run)
{
	stream_destroy(run->stream);
	run->stream = NULL;
	dial_destroy(run->dial);
	run->dial = NULL;
	free(run->host);
	run->host = NULL;
}
