// SPDX-License-Identifier: MIT
/* A DNS question over UDP: a socket of its own for each, so that the kernel draws the port. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probes/dial_address.h"
#include "probes/dns_run.h"

/* Of a packet; more than DNS_UDP_MOST is not sent by any server that obeys. */
#define ROOM 4096

/* Sends the question; 0, or why that is not possible. */
static int ask(struct dns_run *run)
{
	ssize_t sent = send(run->datagram.fd, run->query.bytes, run->query.length, MSG_NOSIGNAL);

	/* A full queue loses this one; it is sent again. */
	return sent >= 0 || errno == EAGAIN || errno == EINTR ? 0 : errno;
}

enum probe_reason dns_udp_reason(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM
		? REASON_LOCAL
		: REASON_CONNECT;
}

static void fail(struct dns_run *run, int error)
{
	dns_server_failed(run, dns_udp_reason(error), strerror(error));
}

static void on_datagram(struct ev_loop *loop, ev_io *io, int events)
{
	struct dns_run *run = io->data;
	unsigned char packet[ROOM];
	/* Of a connected socket: from the server alone, or the ICMP error that came in its place.
	 */
	ssize_t got = recv(io->fd, packet, sizeof(packet), 0);
	struct dns_bytes message = {.bytes = packet, .length = got < 0 ? 0 : (size_t)got};

	(void)loop;
	(void)events;
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		fail(run, errno);
	else if (got >= 0)
		(void)dns_heard(run, &message);
}

static void on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct dns_run *run = timer->data;
	int error = ask(run);

	(void)loop;
	(void)events;
	probe_trace(probe_of_run(run), TRACE_REQUEST, "asked again");
	if (error != 0)
		fail(run, error);
}

void dns_udp_init(struct dns_run *run)
{
	ev_init(&run->datagram, on_datagram);
	run->datagram.fd = -1;
	run->datagram.data = run;
	ev_timer_init(&run->again, on_again, 0, DNS_RETRANSMIT);
	run->again.data = run;
}

int dns_udp_start(struct dns_run *run)
{
	const struct sockaddr_storage *server = &run->servers[run->at].address;
	struct ev_loop *loop = probe_loop(probe_of_run(run));
	int error = 0;
	int fd = socket(server->ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno;
	ev_io_set(&run->datagram, fd, EV_READ);
	if (connect(fd, (const struct sockaddr *)server, address_length(server)) != 0)
		error = errno;
	else
		error = ask(run);
	if (error != 0) {
		dns_udp_stop(run);
		return error;
	}
	ev_io_start(loop, &run->datagram);
	ev_timer_again(loop, &run->again);
	return 0;
}

void dns_udp_stop(struct dns_run *run)
{
	struct ev_loop *loop = probe_loop(probe_of_run(run));

	ev_timer_stop(loop, &run->again);
	ev_io_stop(loop, &run->datagram);
	if (run->datagram.fd >= 0)
		(void)close(run->datagram.fd);
	run->datagram.fd = -1;
}
