// SPDX-License-Identifier: MIT
/* Commands that make no probe: no reply, more than one, or one that somebody else has to give. */
#include <string.h>
#include <strings.h>

#include "probes/redis_conf.h"

static const char blocks[] = "blocks until somebody else does something";
static const char subscribes[] = "is followed by messages, not answered by a reply";
static const char logs_in[] = "is what the keys 'user' and 'password' are for";

static const struct {
	const char *name;
	const char *word; /* that stands somewhere behind it; NULL: any or none */
	const char *why;
} refused[] = {
	{"auth", NULL, logs_in},
	{"hello", NULL, logs_in},
	{"select", NULL, "is what the key 'db' is for"},
	{"quit", NULL, "is sent at the end of every session anyway"},
	{"reset", NULL, "gives up user and database"},
	{"multi", NULL, "begins a transaction, of which one command only is sent"},
	{"subscribe", NULL, subscribes},
	{"psubscribe", NULL, subscribes},
	{"ssubscribe", NULL, subscribes},
	{"unsubscribe", NULL, subscribes},
	{"punsubscribe", NULL, subscribes},
	{"sunsubscribe", NULL, subscribes},
	{"monitor", NULL, subscribes},
	{"sync", NULL, subscribes},
	{"psync", NULL, subscribes},
	{"blpop", NULL, blocks},
	{"brpop", NULL, blocks},
	{"brpoplpush", NULL, blocks},
	{"blmove", NULL, blocks},
	{"blmpop", NULL, blocks},
	{"bzpopmin", NULL, blocks},
	{"bzpopmax", NULL, blocks},
	{"bzmpop", NULL, blocks},
	{"xread", "block", blocks},
	{"xreadgroup", "block", blocks},
	{"wait", NULL, blocks},
	{"waitaof", NULL, blocks},
	{"client", "reply", "switches replies off"},
	{"client", "pause", "holds up everybody else"},
	{"debug", NULL, "holds up everybody else, or worse"},
	{"shutdown", NULL, "ends the server"},
};

static bool has_word(const struct conf_strings *command, const char *word)
{
	for (size_t i = 1; i < command->count; i++) {
		if (strcasecmp(command->items[i], word) == 0)
			return true;
	}
	return false;
}

const char *redis_command_problem(const struct conf_strings *command)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		if (strcasecmp(command->items[0], refused[i].name) == 0 &&
			(refused[i].word == NULL || has_word(command, refused[i].word)))
			return refused[i].why;
	}
	return NULL;
}
