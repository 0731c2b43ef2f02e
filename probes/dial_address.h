/* SPDX-License-Identifier: MIT */
/* probes/dial_address.h: socket addresses from text and back. */
#ifndef PROBES_DIAL_ADDRESS_H
#define PROBES_DIAL_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* An IPv4 or IPv6 address, with an interface after '%' where it is link-local; port 0. */
bool address_parse(const char *host, struct sockaddr_storage *ret_address);

void address_set_port(struct sockaddr_storage *address, unsigned int port); /* not for AF_UNIX */
unsigned int address_port(const struct sockaddr_storage *address); /* likewise */
socklen_t address_length(const struct sockaddr_storage *address);

/* "127.0.0.1" or "fe80::1%eth0": without port and brackets, not for AF_UNIX. free(). */
char *address_show_host(const struct sockaddr_storage *address);

/* "127.0.0.1:80", "[fe80::1%eth0]:80" or the path of a unix socket. free(). */
char *address_show(const struct sockaddr_storage *address);

#endif
