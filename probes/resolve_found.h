/* SPDX-License-Identifier: MIT */
/* probes/resolve_found.h: what a lookup found, or why nothing. */
#ifndef PROBES_RESOLVE_FOUND_H
#define PROBES_RESOLVE_FOUND_H

#include <ares.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define FOUND_MOST_KEPT 60.0 /* s: a changed address counts after a minute, whatever its TTL */
#define FOUND_MOST_ADDRESSES 64 /* of an answer and family; 16 are tried */

/* What one family, or the hosts file, said. A struct of zeroes: not asked. */
struct found {
	struct sockaddr_storage *addresses; /* owned: free() */
	size_t count;
	double ttl; /* s */
	int status; /* of c-ares: why there are none */
};

/* Copies what c-ares found; *found is empty before. */
void found_keep(struct found *found, const struct ares_addrinfo *answer);

/* Loopback addresses of a family. */
void found_loopback(struct found *found, int family);

/* Both in turn, `first` first (RFC 8305, section 4); where neither has any, the worse cause. */
void found_join(const struct found *first, const struct found *second, struct found *ret_found);

const char *found_error(int status); /* stable text for a status of c-ares */

/* `localhost` and names under it: RFC 6761, section 6.3. */
bool found_is_localhost(const char *host);

#endif
