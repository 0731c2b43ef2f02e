/* SPDX-License-Identifier: MIT */
/* config/hostport.h: HOST, HOST:PORT and [IPv6]:PORT as text. */
#ifndef CONFIG_HOSTPORT_H
#define CONFIG_HOSTPORT_H

#include "config/arena.h"

struct hostport {
	const char *host; /* without brackets; a name, or an IPv4 or IPv6 address */
	unsigned int port; /* 0 where none is written */
};

/*
 * Takes the text apart; the host is in the arena. Returns NULL, or static text that says
 * what is wrong with it; *ret is then untouched.
 */
const char *hostport_parse(struct arena *arena, const char *text, struct hostport *ret);

#endif
