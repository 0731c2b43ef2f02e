/* SPDX-License-Identifier: MIT */
/* probes/remains.h: what runs of one check left behind that could not end at once. */
#ifndef PROBES_REMAINS_H
#define PROBES_REMAINS_H

/*
 * A check owns one. A module that takes over the end of a run (a process tree
 * being killed, a lookup being dropped) counts itself in with remains_take() and
 * out with remains_drop(). The struct lives until its owner has let go and
 * the last holder has dropped it.
 */
struct remains;

/* changed (may be NULL) is called on every take, drop and stubborn; it must not destroy. */
struct remains *remains_create(void (*changed)(void *owner), void *owner);

/* The owner lets go: no callback from now on. Accepts NULL. */
void remains_release(struct remains *remains);

void remains_take(struct remains *remains);
void remains_drop(struct remains *remains);

/* One of the holders has outlived SIGKILL (came back: undo with remains_yielded). */
void remains_stubborn(struct remains *remains);
void remains_yielded(struct remains *remains);

unsigned int remains_count(const struct remains *remains); /* holders, stubborn ones too */
unsigned int remains_stubborn_count(const struct remains *remains);

#endif
