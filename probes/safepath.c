// SPDX-License-Identifier: MIT
/* Walks a path as the kernel does, and looks at everybody who could change it. */
#include "probes/safepath.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/arena.h"

#define LINKS_MAX 40 /* as the kernel: path_resolution(7) */

struct walk {
	const struct safepath_policy *policy;
	char *done; /* walked so far, without links; "" is the root */
	char *rest; /* to be walked; owned */
	unsigned int links;
	char *complaint;
};

static enum safepath_result complain_missing(struct walk *walk, const char *path, int error)
{
	walk->complaint = xprintf("%s: %s", path, strerror(error));
	return SAFEPATH_MISSING;
}

static enum safepath_result judge(struct walk *walk, const char *path, const struct stat *status)
{
	const char *shown = *path == '\0' ? "/" : path;
	bool shared = (status->st_mode & (S_IWGRP | S_IWOTH)) != 0;

	if (status->st_uid != 0 && status->st_uid != walk->policy->user &&
		status->st_uid != geteuid()) {
		walk->complaint = xprintf("%s is owned by user %u", shown, status->st_uid);
		return SAFEPATH_UNSAFE;
	}
	/* The mode of a link means nothing; who may replace it, its directory says. */
	if (S_ISLNK(status->st_mode) || !shared)
		return SAFEPATH_SAFE;
	if (walk->policy->sticky_is_fine && S_ISDIR(status->st_mode) && status->st_uid == 0 &&
		(status->st_mode & S_ISVTX) != 0)
		return SAFEPATH_SAFE;
	walk->complaint = xprintf("%s is mode %04o", shown, status->st_mode & 07777U);
	return SAFEPATH_UNSAFE;
}

static enum safepath_result follow(struct walk *walk, const char *path)
{
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target) - 1);
	char *rest;

	if (length < 0)
		return complain_missing(walk, path, errno);
	if (++walk->links > LINKS_MAX)
		return complain_missing(walk, path, ELOOP);
	target[length] = '\0';
	rest = xprintf("%s/%s", target, walk->rest);
	free(walk->rest);
	walk->rest = rest;
	if (target[0] == '/')
		walk->done[0] = '\0';
	return SAFEPATH_SAFE;
}

/* Takes the next name off the rest; NULL at the end. The caller owns it. */
static char *next_name(struct walk *walk)
{
	size_t skip = strspn(walk->rest, "/");
	size_t length = strcspn(walk->rest + skip, "/");
	char *name;

	if (length == 0)
		return NULL;
	name = xstrndup(walk->rest + skip, length);
	memmove(walk->rest, walk->rest + skip + length, strlen(walk->rest + skip + length) + 1);
	return name;
}

static enum safepath_result enter(struct walk *walk, const char *name)
{
	enum safepath_result result;
	struct stat status;
	char *path;

	if (strcmp(name, ".") == 0)
		return SAFEPATH_SAFE;
	if (strcmp(name, "..") == 0) {
		char *slash = strrchr(walk->done, '/');

		/* What is done holds no links, so the name before is the parent. */
		if (slash != NULL)
			*slash = '\0';
		return SAFEPATH_SAFE;
	}
	path = xprintf("%s/%s", walk->done, name);
	if (lstat(path, &status) != 0) {
		result = complain_missing(walk, path, errno);
	} else {
		result = judge(walk, path, &status);
		if (result == SAFEPATH_SAFE && S_ISLNK(status.st_mode)) {
			result = follow(walk, path);
		} else {
			char *before = walk->done;

			walk->done = path;
			path = before;
		}
	}
	free(path);
	return result;
}

enum safepath_result safepath_check(
	const char *path, const struct safepath_policy *policy, char **ret_complaint)
{
	struct walk walk = {.policy = policy, .done = xstrdup(""), .rest = xstrdup(path)};
	enum safepath_result result;
	struct stat status;
	char *name;

	if (stat("/", &status) == 0)
		result = judge(&walk, "", &status);
	else
		result = complain_missing(&walk, "/", errno);
	while (result == SAFEPATH_SAFE && (name = next_name(&walk)) != NULL) {
		result = enter(&walk, name);
		free(name);
	}
	free(walk.done);
	free(walk.rest);
	if (result != SAFEPATH_SAFE)
		*ret_complaint = walk.complaint;
	return result;
}
