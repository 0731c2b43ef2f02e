/* SPDX-License-Identifier: MIT */
/* runner/id_lock.h: which process publishes which check ids, so that no two publish the same. */
#ifndef RUNNER_ID_LOCK_H
#define RUNNER_ID_LOCK_H

#include <stdbool.h>

#include "config/diag.h"
#include "runner/settings.h"

/*
 * Each daemon writes its ids to a file in its runtime directory and keeps that locked as long
 * as it lives. The others of this host are those in the same directory tree: beside
 * /run/probity/web these are /run/probity and all directly below it, beside a directory
 * that is in none called "probity", itself and those below.
 */
struct id_lock;

struct id_lock *id_lock_create(const char *runtime_dir); /* takes nothing yet */

/* Reads what the others hold; who holds an id then, in words. NULL: nobody else. Borrowed. */
void id_lock_look(struct id_lock *lock);
const char *id_lock_holder(const struct id_lock *lock, const char *check_id);

/* What is wrong with a check whose id is held: the id and the holder. */
#define ID_LOCK_TEXT "check id '%s' is held by %s; stop it, or give this check another name or id"

/*
 * Looks again and takes the ids of these settings in place of those held. False where another holds
 * one of them: then each is an error in diag that names the holder, and nothing changes. What keeps
 * the ids from being locked at all goes to *ret_problem (free()), and is true.
 */
bool id_lock_take(struct id_lock *lock, const struct settings *settings, struct conf_diag *diag,
	char **ret_problem);

void id_lock_destroy(struct id_lock *lock); /* lets all go; accepts NULL */

#endif
