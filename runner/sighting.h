/* SPDX-License-Identifier: MIT */
/* runner/sighting.h: something is there once it was seen twice, gone when it is seen no more. */
#ifndef RUNNER_SIGHTING_H
#define RUNNER_SIGHTING_H

#include <stdbool.h>

enum sighting_news {
	SIGHTING_NO_NEWS,
	SIGHTING_THERE, /* seen twice in the last four looks */
	SIGHTING_GONE, /* not once in them */
};

/* A struct of zeroes has seen nothing. */
struct sighting {
	unsigned int recent; /* the last four looks, a bit each, the newest lowest */
	bool there;
};

enum sighting_news sighting_note(struct sighting *sighting, bool seen);

#endif
