/* SPDX-License-Identifier: MIT */
/* runner/consul_token.h: the agent's token, read again when its file is replaced. */
#ifndef RUNNER_CONSUL_TOKEN_H
#define RUNNER_CONSUL_TOKEN_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

struct consul_token {
	char *file; /* NULL: no token is sent; owned */
	char *value; /* NULL before the first good read; owned */
	char *problem; /* why the file cannot be read now, or NULL; owned */
	/* What tells one content of the file from the next. */
	struct timespec modified, changed;
	dev_t device;
	ino_t inode;
	off_t size;
};

void consul_token_init(struct consul_token *token, const char *file);
void consul_token_finish(struct consul_token *token); /* wipes the value */

/*
 * True if the file is another one than at the last read, so that consul_token_read()
 * is worth while. One stat(): a descriptor is not needed.
 */
bool consul_token_is_old(struct consul_token *token);

/* Reads the file. True if the value is another one now; a file that cannot be read changes none. */
bool consul_token_read(struct consul_token *token);

#endif
