/* SPDX-License-Identifier: MIT */
/* probes/clock.h: time and randomness; tests replace this file. Seconds are doubles. */
#ifndef PROBES_CLOCK_H
#define PROBES_CLOCK_H

#include <stddef.h>

double clock_monotonic(void); /* CLOCK_MONOTONIC: timers, latencies */
double clock_boot(void); /* CLOCK_BOOTTIME: goes on in suspend; the age of a result */
double clock_wall(void); /* CLOCK_REALTIME: for display, and for the dates of certificates */

/* Fills bytes from the kernel's generator; aborts if it has none. */
void clock_random(void *bytes, size_t length);

/* A uniform number in [0, 1). */
double clock_fraction(void);

#endif
