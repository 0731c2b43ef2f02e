// SPDX-License-Identifier: MIT
/* One c-ares channel on the loop: its sockets, its clock, and its end. */
#include "probes/resolve_channel.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/dial_address.h"

/*
 * s between two looks at c-ares's timeouts while lookups are in flight. ares_timeout()
 * would tell the next one, but walks all of them. Timeouts begin at 300 ms.
 */
#define TICK 0.05

#define DNS_PORT 53

struct channel_socket {
	ev_io io;
	struct resolve_channel *channel;
	struct channel_socket *next;
};

struct resolve_channel {
	struct ev_loop *loop;
	ares_channel ares; /* asks name servers */
	ares_channel files; /* reads /etc/hosts */
	ev_timer tick;
	struct channel_socket *sockets;
	size_t in_flight;
	bool retired;
	struct resolve_channel *next; /* of all */
};

/* A lookup in flight. */
struct channel_call {
	struct resolve_channel *channel;
	ares_addrinfo_callback told;
	void *data;
};

static struct resolve_channel *channels;

static void destroy(struct resolve_channel *channel)
{
	struct resolve_channel **link = &channels;

	while (*link != channel)
		link = &(*link)->next;
	*link = channel->next;
	/* Ends what is in flight, and closes the sockets through on_state(). */
	ares_destroy(channel->ares);
	ares_destroy(channel->files);
	ev_timer_stop(channel->loop, &channel->tick);
	free(channel);
}

/* Never from inside c-ares: it is about to look at the channel again. */
static void settle(struct resolve_channel *channel)
{
	if (channel->in_flight > 0)
		return;
	ev_timer_stop(channel->loop, &channel->tick);
	if (channel->retired)
		destroy(channel);
}

static void on_socket(struct ev_loop *loop, ev_io *io, int events)
{
	struct resolve_channel *channel = ((struct channel_socket *)io)->channel;
	ares_socket_t bad = ARES_SOCKET_BAD;

	(void)loop;
	ares_process_fd(channel->ares, events & (EV_READ | EV_ERROR) ? io->fd : bad,
		events & EV_WRITE ? io->fd : bad);
	settle(channel);
}

static void on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct resolve_channel *channel = timer->data;

	(void)loop;
	(void)events;
	ares_process_fd(channel->ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	settle(channel);
}

/* c-ares wants to hear of these events, or of none since it closes the socket. */
static void on_state(void *data, ares_socket_t fd, int readable, int writable)
{
	struct resolve_channel *channel = data;
	struct channel_socket **link = &channel->sockets;
	struct channel_socket *watch;

	while (*link != NULL && (*link)->io.fd != fd)
		link = &(*link)->next;
	watch = *link;
	if (watch != NULL)
		ev_io_stop(channel->loop, &watch->io);
	if (!readable && !writable) {
		if (watch != NULL)
			*link = watch->next;
		free(watch);
		return;
	}
	if (watch == NULL) {
		watch = xcalloc(1, sizeof(*watch));
		watch->channel = channel;
		watch->next = channel->sockets;
		channel->sockets = watch;
		ev_init(&watch->io, on_socket);
	}
	ev_io_set(&watch->io, fd, (readable ? EV_READ : 0) | (writable ? EV_WRITE : 0));
	ev_io_start(channel->loop, &watch->io);
}

static bool open_channels(struct resolve_channel *channel, const struct resolve_how *how)
{
	struct ares_options options = {
		.timeout = (int)(how->timeout * 1000),
		.tries = (int)how->tries,
		.sock_state_cb = on_state,
		.sock_state_cb_data = channel,
		.resolvconf_path = (char *)how->resolv_conf,
	};
	int mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB | ARES_OPT_LOOKUPS |
		ARES_OPT_RESOLVCONF;

	/* Set here, so that nsswitch.conf and host.conf do not count. */
	options.lookups = (char *)"b";
	if (ares_init_options(&channel->ares, &options, mask) != ARES_SUCCESS)
		return false;
	options.lookups = (char *)"f";
	if (ares_init_options(&channel->files, &options, mask) != ARES_SUCCESS) {
		ares_destroy(channel->ares);
		return false;
	}
	/* Checked at load, so it fails for want of memory only; then no lookup succeeds. */
	if (how->servers != NULL)
		(void)ares_set_servers_ports_csv(channel->ares, how->servers);
	return true;
}

struct resolve_channel *channel_create(struct ev_loop *loop, const struct resolve_how *how)
{
	struct resolve_channel *channel = xcalloc(1, sizeof(*channel));

	channel->loop = loop;
	ev_timer_init(&channel->tick, on_tick, TICK, TICK);
	channel->tick.data = channel;
	if (!open_channels(channel, how)) {
		free(channel);
		return NULL;
	}
	channel->next = channels;
	channels = channel;
	return channel;
}

static void on_told(void *data, int status, int timeouts, struct ares_addrinfo *answer)
{
	struct channel_call *call = data;

	call->channel->in_flight--;
	call->told(call->data, status, timeouts, answer);
	free(call);
}

void channel_lookup(struct resolve_channel *channel, const char *host, int family,
	ares_addrinfo_callback told, void *data)
{
	struct ares_addrinfo_hints hints = {
		.ai_family = family,
		.ai_socktype = SOCK_STREAM,
		/* Sorting opens a socket per address, and dial tries them all anyhow. */
		.ai_flags = ARES_AI_NOSORT,
	};
	struct channel_call *call = xcalloc(1, sizeof(*call));

	*call = (struct channel_call){.channel = channel, .told = told, .data = data};
	channel->in_flight++;
	ares_getaddrinfo(channel->ares, host, NULL, &hints, on_told, call);
	if (channel->in_flight > 0 && !ev_is_active(&channel->tick))
		ev_timer_again(channel->loop, &channel->tick);
}

void channel_hosts(struct resolve_channel *channel, const char *host, int family,
	ares_addrinfo_callback told, void *data)
{
	struct ares_addrinfo_hints hints = {
		.ai_family = family,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = ARES_AI_NOSORT,
	};

	ares_getaddrinfo(channel->files, host, NULL, &hints, told, data);
}

size_t channel_servers(
	const struct resolve_channel *channel, struct sockaddr_storage *ret_servers, size_t most)
{
	struct ares_addr_port_node *all = NULL;
	size_t count = 0;

	/* It fails for want of memory only. */
	if (ares_get_servers_ports(channel->ares, &all) != ARES_SUCCESS)
		return 0;
	for (const struct ares_addr_port_node *one = all; one != NULL && count < most;
		one = one->next) {
		struct sockaddr_storage *server = &ret_servers[count++];

		*server = (struct sockaddr_storage){.ss_family = (sa_family_t)one->family};
		if (one->family == AF_INET)
			((struct sockaddr_in *)server)->sin_addr = one->addr.addr4;
		else
			memcpy(&((struct sockaddr_in6 *)server)->sin6_addr, &one->addr.addr6,
				sizeof(one->addr.addr6));
		/* 0 where none was written: c-ares has it from services(5). */
		address_set_port(
			server, one->udp_port > 0 ? (unsigned int)one->udp_port : DNS_PORT);
	}
	ares_free_data(all);
	return count;
}

void channel_retire(struct resolve_channel *channel)
{
	if (channel == NULL)
		return;
	channel->retired = true;
	settle(channel);
}

void channel_destroy_all(void)
{
	while (channels != NULL)
		destroy(channels);
}
