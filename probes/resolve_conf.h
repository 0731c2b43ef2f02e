/* SPDX-License-Identifier: MIT */
/* probes/resolve_conf.h: name servers as c-ares wants them. */
#ifndef PROBES_RESOLVE_CONF_H
#define PROBES_RESOLVE_CONF_H

#include "probes/resolve.h"

/* "192.0.2.1:53,[2001:db8::1]:53", newly allocated; NULL for none. What is not valid is left out.
 */
char *resolve_servers(const struct conf_strings *servers);

/* The system's list of name servers; tests set another. */
extern const char *resolve_conf_file;

#endif
