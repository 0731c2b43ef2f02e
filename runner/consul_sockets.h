/* SPDX-License-Identifier: MIT */
/* runner/consul_sockets.h: descriptors kept back, so that probes cannot starve the agent's calls.
 */
#ifndef RUNNER_CONSUL_SOCKETS_H
#define RUNNER_CONSUL_SOCKETS_H

#include <curl/curl.h>
#include <stddef.h>

#include "runner/consul.h"

/*
 * One place per connection, each held by a descriptor of /dev/null while no
 * socket has it. Where they could not be had at the start, sockets are opened as usual.
 */
struct consul_sockets {
	int places[CONSUL_CONNECTIONS]; /* -1: none */
	size_t free_places; /* places[0..free_places) are not lent */
};

void consul_sockets_init(struct consul_sockets *sockets);
void consul_sockets_finish(struct consul_sockets *sockets);

/* Makes the handle's connections use it; sockets outlives all of them. */
void consul_sockets_use(struct consul_sockets *sockets, CURL *easy);

/*
 * Frees one descriptor for a short use inside one callback, and takes it back.
 * Nobody else can get it in between: the program has one thread that opens files.
 */
void consul_sockets_lend(struct consul_sockets *sockets);
void consul_sockets_take_back(struct consul_sockets *sockets);

#endif
