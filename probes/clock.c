// SPDX-License-Identifier: MIT
/* Time and randomness from the kernel. */
#include "probes/clock.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

static double read_clock(clockid_t id)
{
	struct timespec now = {0};

	/* Cannot fail for these clocks: Linux has had all three since 2.6.39. */
	(void)clock_gettime(id, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double clock_monotonic(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

double clock_boot(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

double clock_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}

void clock_random(void *bytes, size_t length)
{
	/* Up to 256 bytes are never cut short: getrandom(2). */
	if (length > 256 || getrandom(bytes, length, 0) != (ssize_t)length) {
		(void)fputs("probity: no random numbers from the kernel\n", stderr);
		abort();
	}
}

double clock_fraction(void)
{
	uint64_t bits;

	clock_random(&bits, sizeof(bits));
	return (double)(bits >> 11) / 9007199254740992.0; /* 2^53: all doubles in [0, 1) */
}
