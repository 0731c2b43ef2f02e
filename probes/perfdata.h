/* SPDX-License-Identifier: MIT */
/* probes/perfdata.h: performance data of Nagios plugins, found in their output as it comes. */
#ifndef PROBES_PERFDATA_H
#define PROBES_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>

#define PERFDATA_ITEM_MOST 512 /* bytes of one 'label'=value;...; a longer one is passed over */
#define PERFDATA_MOST ((size_t)64 * 1024) /* bytes after the bars; what follows is not read */

enum perfdata_type {
	PERFDATA_NUMBER,
	PERFDATA_UNKNOWN, /* U: the plugin could not find it out */
	PERFDATA_UNREADABLE, /* label=something that is no number */
};

struct perfdata_value {
	const char *label; /* any bytes but NUL, without its quotes */
	enum perfdata_type type;
	double value; /* finite; NAN for what is no number */
	const char *unit; /* "" for none */
	const char *text; /* number and unit as written */
};

enum perfdata_place {
	PERFDATA_TITLE, /* the first line */
	PERFDATA_TITLE_DATA, /* the rest of it, after a bar */
	PERFDATA_TEXT, /* lines after it */
	PERFDATA_DATA, /* everything after a bar in them */
	PERFDATA_OVER, /* PERFDATA_MOST bytes were read */
};

/*
 * As the guidelines for Nagios plugins have it: data follows a bar in the first line, and
 * a bar in the lines after it makes data of all the rest. Set found and owner, the rest
 * zero; no memory is allocated. found is called from inside the calls below.
 */
struct perfdata {
	void (*found)(void *owner, const struct perfdata_value *value);
	void *owner;

	/* Private. */
	enum perfdata_place place;
	size_t seen; /* bytes of data */
	char item[PERFDATA_ITEM_MOST];
	size_t length;
	bool quoted; /* inside the quotes of a label */
	bool labelled; /* behind the label */
	bool too_long;
};

void perfdata_take(struct perfdata *perfdata, const char *bytes, size_t length);
void perfdata_end(struct perfdata *perfdata); /* the output is over */

#endif
