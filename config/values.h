/* SPDX-License-Identifier: MIT */
/* config/values.h: what the members hold that rows fill. */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include <stddef.h>

#include "config/diag.h"

struct conf_variant;

/* What the members hold. All memory is the arena's; every string is terminated. */

struct conf_strings { /* never NULL items: an absent list is an empty one */
	const char *const *items; /* count strings and a NULL: usable as argv */
	size_t count;
};

/* A value that no message, log or output may show. Given in the file, or read from one. */
struct conf_secret {
	const char *value; /* NULL where it comes from a file or is absent */
	const char *file; /* read again before a run when it changed; NULL if given */
	const char *prefix; /* put before the value, "" if none */
};

struct conf_pair { /* env: and headers: */
	const char *name;
	struct conf_secret value;
};

struct conf_pairs {
	const struct conf_pair *items;
	size_t count;
};

struct conf_url {
	const char *text; /* as written, after ${NAME}, up to a '#'; NULL if absent */
	const char *shown; /* for messages: user:***@ or ***@, ?…, expanded parts *** */
	const char *scheme; /* lower case */
	const char *host; /* without brackets */
	unsigned int port; /* the scheme's where none is written */
};

struct conf_address { /* host:port, [v6]:port, or unix:///path */
	const char *host; /* NULL for a unix socket; no brackets */
	const char *path; /* unix socket, else NULL */
	unsigned int port;
	const char *shown; /* for messages */
};

struct conf_choice_of { /* conf_oneof */
	const struct conf_variant *variant; /* NULL if none was given */
	void *conf; /* variant->size bytes, filled by its rows */
	struct conf_mark mark; /* of the key */
};

struct conf_items { /* conf_list, conf_named: count structs of field->size bytes, one after another
		     */
	void *items;
	size_t count;
};

#endif
