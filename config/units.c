// SPDX-License-Identifier: MIT
/* Durations and sizes, from text and back. */
#include "config/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A double holds any number of 15 decimal digits. */
#define MOST_DIGITS 15

struct unit {
	const char *name;
	double factor;
};

/* From large to small; a duration's parts must come in this order. */
static const struct unit duration_units[] = {
	{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}, {"ms", 0.001}, {NULL, 0}};

static const struct unit size_units[] = {
	{"GiB", 1024.0 * 1024 * 1024}, {"MiB", 1024.0 * 1024}, {"KiB", 1024}, {"B", 1}, {NULL, 0}};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

struct number {
	double whole, scale; /* the value is whole / scale */
	bool fraction;
};

/* Reads digits, with a fraction or not. Returns what is wrong, else NULL and *cursor behind it. */
static const char *read_number(const char **cursor, struct number *ret_number)
{
	const char *c = *cursor;
	struct number number = {.scale = 1};
	size_t digits = 0;

	for (; is_digit(*c); c++, digits++)
		number.whole = number.whole * 10 + (*c - '0');
	if (*c == '.') {
		number.fraction = true;
		c++;
		if (!is_digit(*c))
			return "digits must follow the point";
		for (; is_digit(*c); c++, digits++) {
			number.whole = number.whole * 10 + (*c - '0');
			number.scale *= 10;
		}
	}
	if (digits == 0)
		return *c == '-' ? "it must not be negative" : "it must start with a number";
	if (digits > MOST_DIGITS)
		return "it has too many digits";
	*cursor = c;
	*ret_number = number;
	return NULL;
}

/* The unit that stands here, up to a digit, a point or the end; NULL if it is none of them. */
static const struct unit *read_unit(const char **cursor, const struct unit *units)
{
	size_t length = strcspn(*cursor, "0123456789.");

	for (; units->name != NULL; units++) {
		if (strlen(units->name) == length && strncmp(units->name, *cursor, length) == 0) {
			*cursor += length;
			return units;
		}
	}
	return NULL;
}

static const char *unit_complaint(const char *rest, const char *missing, const char *unknown)
{
	if (*rest == '\0')
		return missing;
	return strpbrk(rest, " \t\r\n") != NULL ? "there must be no blanks in it" : unknown;
}

const char *units_parse_duration(const char *text, double *ret_seconds)
{
	const struct unit *last = NULL;
	const char *cursor = text;
	double seconds = 0;

	do {
		struct number number;
		const char *complaint = read_number(&cursor, &number);
		const char *rest = cursor;
		const struct unit *unit;

		if (complaint != NULL)
			return complaint;
		unit = read_unit(&cursor, duration_units);
		if (unit == NULL)
			return unit_complaint(rest, "it needs a unit, such as 10s, 5m or 250ms",
				"its units must be d, h, m, s or ms");
		if (last != NULL && unit <= last)
			return "its units must come from large to small, each once";
		if (number.fraction && *cursor != '\0')
			return "only its last number may have a fraction";
		/* Milliseconds are divided: 250 / 1000 is nearer to 0.25 than 250 * 0.001. */
		seconds += unit->factor < 1 ? number.whole / (number.scale * 1000)
					    : number.whole / number.scale * unit->factor;
		last = unit;
	} while (*cursor != '\0');
	*ret_seconds = seconds;
	return NULL;
}

const char *units_parse_size(const char *text, double *ret_bytes)
{
	const char *cursor = text;
	const char *rest;
	const struct unit *unit;
	struct number number;
	double bytes;
	const char *complaint = read_number(&cursor, &number);

	if (complaint != NULL)
		return complaint;
	rest = cursor;
	unit = read_unit(&cursor, size_units);
	if (unit == NULL || *cursor != '\0')
		return unit_complaint(rest, "it needs a unit, such as 64KiB or 512B",
			"its unit must be B, KiB, MiB or GiB");
	bytes = number.whole / number.scale * unit->factor;
	if (bytes != floor(bytes))
		return "it must be a whole number of bytes";
	*ret_bytes = bytes;
	return NULL;
}

__attribute__((format(printf, 3, 4))) static void append(
	char *buffer, size_t size, const char *format, ...)
{
	size_t used = strlen(buffer);
	va_list arguments;

	va_start(arguments, format);
	/* clang-tidy 14 loses sight of va_start() where fuzzers are built as well. */
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
	(void)vsnprintf(buffer + used, size - used, format, arguments);
	va_end(arguments);
}

/* Appends a number of millionths with as many decimals as it needs. */
static void append_millionths(char *buffer, size_t size, unsigned long long millionths)
{
	unsigned long long rest = millionths % 1000000;
	int decimals = 6;

	append(buffer, size, "%llu", millionths / 1000000);
	if (rest == 0)
		return;
	for (; rest % 10 == 0; rest /= 10)
		decimals--;
	append(buffer, size, ".%0*llu", decimals, rest);
}

void units_print_duration(double seconds, char *buffer, size_t size)
{
	static const struct {
		const char *name;
		unsigned long long microseconds;
	} large[] = {{"d", 86400000000}, {"h", 3600000000}, {"m", 60000000}};
	/* 1e12 s keeps the product within an integer of 64 bits. */
	unsigned long long left = (unsigned long long)llround(fmin(fmax(seconds, 0), 1e12) * 1e6);

	*buffer = '\0';
	if (left > 0 && left < 1000000) {
		append_millionths(buffer, size, left * 1000);
		append(buffer, size, "ms");
		return;
	}
	for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++) {
		if (left >= large[i].microseconds)
			append(buffer, size, "%llu%s", left / large[i].microseconds, large[i].name);
		left %= large[i].microseconds;
	}
	if (*buffer != '\0' && left == 0)
		return;
	append_millionths(buffer, size, left);
	append(buffer, size, "s");
}

void units_print_size(double bytes, char *buffer, size_t size)
{
	const struct unit *unit = size_units;

	while (unit->factor > 1 && (bytes < unit->factor || fmod(bytes, unit->factor) != 0))
		unit++;
	(void)snprintf(buffer, size, "%.0f%s", bytes / unit->factor, unit->name);
}
