/* SPDX-License-Identifier: MIT */
/* probes/safepath.h: who could change what a path leads to. */
#ifndef PROBES_SAFEPATH_H
#define PROBES_SAFEPATH_H

#include <stdbool.h>
#include <sys/types.h>

enum safepath_result {
	SAFEPATH_SAFE, /* only root and the user of the policy can change what is there */
	SAFEPATH_UNSAFE,
	SAFEPATH_MISSING, /* does not lead to anything, or cannot be followed */
};

struct safepath_policy {
	uid_t user; /* who may write besides root; 0 for nobody */
	/* A root-owned sticky directory such as /tmp will do: entries are safe from others. */
	bool sticky_is_fine;
};

/*
 * Walks an absolute path from the root through every symbolic link, at most 40. Each
 * component must be owned by root, the user or ourselves, and writable by nobody else;
 * group permission bits count for everybody in the group, whoever that is. Unless safe,
 * *ret_complaint (free()) is stable text: "/x/y is mode 0777", "/x/y is owned by
 * user 1000", or for a missing one "/x/y: No such file or directory".
 */
enum safepath_result safepath_check(
	const char *path, const struct safepath_policy *policy, char **ret_complaint);

#endif
