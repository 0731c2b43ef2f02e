/* SPDX-License-Identifier: MIT */
/* probes/resolve_channel.h: c-ares on the loop; the only file that names both. */
#ifndef PROBES_RESOLVE_CHANNEL_H
#define PROBES_RESOLVE_CHANNEL_H

#include <ares.h>
#include <ev.h>
#include <stddef.h>
#include <sys/socket.h>

struct resolve_channel;

struct resolve_how {
	const char *servers; /* "192.0.2.1:53,[2001:db8::1]:53"; NULL: as resolv_conf says */
	double timeout; /* s, of one try */
	unsigned int tries;
	const char *resolv_conf; /* path */
};

/* NULL if c-ares cannot start (no memory, an unreadable resolv_conf). *how is copied. */
struct resolve_channel *channel_create(struct ev_loop *loop, const struct resolve_how *how);

/*
 * told is called once with a c-ares status and, on ARES_SUCCESS, addresses of the
 * one family in the order of the answer, which the callee frees; it must not call
 * the channel. It may come from inside these calls. hosts: of /etc/hosts alone,
 * always from inside; family may then be AF_UNSPEC.
 */
void channel_lookup(struct resolve_channel *channel, const char *host, int family,
	ares_addrinfo_callback told, void *data);
void channel_hosts(struct resolve_channel *channel, const char *host, int family,
	ares_addrinfo_callback told, void *data);

/* The name servers that it asks, at most `most`; returns how many. */
size_t channel_servers(
	const struct resolve_channel *channel, struct sockaddr_storage *ret_servers, size_t most);

/* Lets go: it is freed when the lookups in flight have ended. Accepts NULL. */
void channel_retire(struct resolve_channel *channel);

/* Frees all channels at once, retired ones too: what is in flight ends with ARES_EDESTRUCTION. */
void channel_destroy_all(void);

#endif
