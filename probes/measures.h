/* SPDX-License-Identifier: MIT */
/* probes/measures.h: named numbers that a run has seen, for status. */
#ifndef PROBES_MEASURES_H
#define PROBES_MEASURES_H

#include <jansson.h>
#include <stddef.h>

#define MEASURES_MOST 64 /* more are left out */
#define MEASURE_NAME_MOST 64 /* bytes; a longer name keeps its head and its tail */
#define MEASURE_UNIT_MOST 16

struct measure {
	char *name; /* valid UTF-8, one line; owned */
	double value; /* NAN: the name is there, but nobody knows its value */
	char *unit; /* as name; "" for none */
};

/* A struct of zeroes is an empty list. */
struct measures {
	struct measure *items;
	size_t count;
};

/* Adds one; name and unit are copied and may hold any bytes. */
void measures_add(struct measures *measures, const char *name, double value, const char *unit);

/* Frees what to holds and gives it what from holds, which is empty then. */
void measures_move(struct measures *to, struct measures *from);

void measures_clear(struct measures *measures); /* frees; the list is empty again */

/* [{"name": "load1", "value": 0.5, "unit": ""}]; null for what is not known. json_decref(). */
json_t *measures_json(const struct measures *measures);

#endif
