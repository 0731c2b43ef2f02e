// SPDX-License-Identifier: MIT
/* Ticks, grid and retries: arithmetic without a clock. */
#include "runner/schedule.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* FNV-1a, 64 bits: offset basis and prime as its authors give them. */
#define FNV_BASIS 14695981039346656037ULL
#define FNV_PRIME 1099511628211ULL

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * FNV_PRIME;
	return (hash ^ 0xff) * FNV_PRIME; /* a separator that no UTF-8 text contains */
}

/* FNV leaves ids that differ in their last digit close together; this spreads them. */
static uint64_t hash_mix(uint64_t hash)
{
	hash ^= hash >> 33;
	hash *= 0xff51afd7ed558ccdULL; /* odd and of high entropy: any such constant will do */
	return hash ^ (hash >> 33);
}

double schedule_phase(const char *host, const char *check_id, double interval)
{
	uint64_t hash = hash_mix(hash_text(hash_text(FNV_BASIS, host), check_id));

	return (double)(hash >> 11) / 9007199254740992.0 * interval; /* 2^53 */
}

double schedule_tick(double phase, double interval, double after)
{
	double tick = phase + (floor((after - phase) / interval) + 1) * interval;

	/* Rounding may leave the quotient a hair under a whole number. */
	return tick > after ? tick : tick + interval;
}

unsigned long schedule_ticks_between(double phase, double interval, double from, double to)
{
	double count = floor((to - phase) / interval) - floor((from - phase) / interval);

	return count > 0 ? (unsigned long)count : 0;
}

double schedule_grid(double runs_per_second)
{
	static const double grids[] = {0.005, 0.010, 0.020, 0.050};
	const size_t last = sizeof(grids) / sizeof(*grids) - 1;

	for (size_t i = 0; i < last; i++) {
		if (runs_per_second * grids[i] >= 10)
			return grids[i];
	}
	return grids[last];
}

double schedule_wake(double tick, double grid, double interval)
{
	double width = fmin(grid, interval / 20);
	double wake = ceil(tick / width) * width;

	return wake < tick ? tick : wake;
}

double schedule_next(const struct schedule_ask *ask, double now)
{
	double tick = schedule_tick(ask->phase, ask->interval, now);

	if (ask->retry_local)
		return fmin(tick, now + SCHEDULE_LOCAL_RETRY);
	if (!ask->confirming || ask->retry_interval >= ask->interval)
		return tick;
	return schedule_tick(ask->last_due, ask->retry_interval, now);
}

double schedule_soon(const struct schedule_start *start, double now)
{
	return now + start->phase / start->interval * SCHEDULE_SPREAD;
}

double schedule_first(const struct schedule_start *start, double now)
{
	/* A third of a heartbeat's distance: the old claim is still good for 5/6 of its TTL. */
	if (start->was_passing)
		return fmin(
			schedule_tick(start->phase, start->interval, now), now + start->ttl / 6);
	return start->first ? now : schedule_soon(start, now);
}

double schedule_after_stall(const struct schedule_start *start, double due, double now)
{
	double tick = due > now ? due : schedule_tick(start->phase, start->interval, now);

	return tick - now > start->ttl / 6 ? schedule_soon(start, now) : tick;
}
