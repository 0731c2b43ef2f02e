/* SPDX-License-Identifier: MIT */
/* config/units.h: durations and sizes, from text and back. */
#ifndef CONFIG_UNITS_H
#define CONFIG_UNITS_H

#include <stddef.h>

/* The longest duration where no row sets its own limit: ten years, s. */
#define UNITS_DURATION_MAX (3650.0 * 24 * 3600)

/* Doubles hold every whole number of bytes up to here, 8 PiB. */
#define UNITS_SIZE_MAX 9007199254740992.0

/* Enough for whatever the two print functions write, the terminator included. */
#define UNITS_DURATION_SIZE 48
#define UNITS_SIZE_SIZE 32

/*
 * A duration: numbers with units d, h, m, s, ms, each at most once, from large to
 * small, without blanks: 1m30s, 250ms, 1h. The last number may have a fraction:
 * 1.5s; .5s is half a second. Returns NULL, or static text that says what is
 * wrong; *ret_seconds is then untouched. It knows no limit but 15 digits.
 */
const char *units_parse_duration(const char *text, double *ret_seconds);

/* A size: one number and one unit of B, KiB, MiB, GiB; a whole number of bytes. As above. */
const char *units_parse_size(const char *text, double *ret_bytes);

/* The shortest form that reads back as the same, to a microsecond: 2s, 1m30s, 250ms, 1.5s. */
void units_print_duration(double seconds, char *buffer, size_t size);

/* In the largest unit that divides it: 64KiB, 1536B. */
void units_print_size(double bytes, char *buffer, size_t size);

#endif
