// SPDX-License-Identifier: MIT
/* The agent's token, read again when its file is replaced. */
#include "runner/consul_token.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/arena.h"
#include "config/field.h"
#include "probes/secret.h"

void consul_token_init(struct consul_token *token, const char *file)
{
	*token = (struct consul_token){.file = file == NULL ? NULL : xstrdup(file)};
}

void consul_token_finish(struct consul_token *token)
{
	free(token->file);
	secret_free(token->value);
	free(token->problem);
	*token = (struct consul_token){0};
}

static bool same_moment(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool consul_token_is_old(struct consul_token *token)
{
	struct stat status = {0};
	bool same;

	/* A missing file compares as one of zeroes: its coming and going is a change. */
	if (token->file == NULL || (stat(token->file, &status) < 0 && token->inode == 0))
		return false;
	same = status.st_dev == token->device && status.st_ino == token->inode &&
		status.st_size == token->size && same_moment(status.st_mtim, token->modified) &&
		same_moment(status.st_ctim, token->changed);
	token->device = status.st_dev;
	token->inode = status.st_ino;
	token->size = status.st_size;
	token->modified = status.st_mtim;
	token->changed = status.st_ctim;
	return !same;
}

bool consul_token_read(struct consul_token *token)
{
	const struct conf_secret source = {.file = token->file, .prefix = ""};
	char *value;
	bool changed;

	free(token->problem);
	token->problem = NULL;
	if (token->file == NULL)
		return false;
	value = secret_read(&source, &token->problem);
	if (value == NULL)
		return false;
	/* It would end the header line, and what follows would be a header of its own. */
	if (strpbrk(value, "\r\n") != NULL) {
		secret_free(value);
		token->problem = xprintf("%s: more than one line", token->file);
		return false;
	}
	changed = token->value == NULL || strcmp(token->value, value) != 0;
	secret_free(token->value);
	token->value = value;
	return changed;
}
