// SPDX-License-Identifier: MIT
/* What comes and goes between looks is seen in some of them only. */
#include "runner/sighting.h"

#define LOOKS 0xfU /* a bit for each of four */

static bool is_twice(unsigned int looks)
{
	return (looks & (looks - 1)) != 0; /* more than one bit */
}

enum sighting_news sighting_note(struct sighting *sighting, bool seen)
{
	sighting->recent = (sighting->recent << 1 | seen) & LOOKS;
	if (!sighting->there && is_twice(sighting->recent)) {
		sighting->there = true;
		return SIGHTING_THERE;
	}
	if (sighting->there && sighting->recent == 0) {
		sighting->there = false;
		return SIGHTING_GONE;
	}
	return SIGHTING_NO_NEWS;
}
