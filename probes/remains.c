// SPDX-License-Identifier: MIT
/* What runs of one check left behind: a counter that outlives its owner. */
#include "probes/remains.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "config/arena.h"

struct remains {
	void (*changed)(void *owner);
	void *owner;
	unsigned int holders;
	unsigned int stubborn;
	bool released;
};

struct remains *remains_create(void (*changed)(void *owner), void *owner)
{
	struct remains *remains = xcalloc(1, sizeof(*remains));

	remains->changed = changed;
	remains->owner = owner;
	return remains;
}

static void settle(struct remains *remains)
{
	if (remains->released && remains->holders == 0)
		free(remains);
	else if (remains->changed != NULL)
		remains->changed(remains->owner);
}

void remains_release(struct remains *remains)
{
	if (remains == NULL)
		return;
	remains->changed = NULL;
	remains->released = true;
	settle(remains);
}

void remains_take(struct remains *remains)
{
	remains->holders++;
	settle(remains);
}

void remains_drop(struct remains *remains)
{
	assert(remains->holders > 0);
	remains->holders--;
	settle(remains);
}

void remains_stubborn(struct remains *remains)
{
	remains->stubborn++;
	settle(remains);
}

void remains_yielded(struct remains *remains)
{
	assert(remains->stubborn > 0);
	remains->stubborn--;
	settle(remains);
}

unsigned int remains_count(const struct remains *remains)
{
	return remains->holders;
}

unsigned int remains_stubborn_count(const struct remains *remains)
{
	return remains->stubborn;
}
