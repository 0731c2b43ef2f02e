// SPDX-License-Identifier: MIT
/* Named numbers, as many as fit. */
#include "probes/measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/output.h"

void measures_add(struct measures *measures, const char *name, double value, const char *unit)
{
	struct measure *measure;

	if (measures->count == MEASURES_MOST)
		return;
	measures->items = xrealloc(measures->items, measures->count + 1, sizeof(*measures->items));
	measure = &measures->items[measures->count++];
	measure->name = output_clean_line(name, strlen(name), MEASURE_NAME_MOST);
	measure->value = value;
	measure->unit = output_clean_line(unit, strlen(unit), MEASURE_UNIT_MOST);
}

void measures_clear(struct measures *measures)
{
	for (size_t i = 0; i < measures->count; i++) {
		free(measures->items[i].name);
		free(measures->items[i].unit);
	}
	free(measures->items);
	*measures = (struct measures){0};
}

void measures_move(struct measures *to, struct measures *from)
{
	measures_clear(to);
	*to = *from;
	*from = (struct measures){0};
}

json_t *measures_json(const struct measures *measures)
{
	json_t *array = json_array();

	for (size_t i = 0; i < measures->count; i++) {
		const struct measure *measure = &measures->items[i];

		(void)json_array_append_new(array,
			json_pack("{s:s, s:o, s:s}", "name", measure->name, "value",
				isfinite(measure->value) ? json_real(measure->value) : json_null(),
				"unit", measure->unit));
	}
	return array;
}
