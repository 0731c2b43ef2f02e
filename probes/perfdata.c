// SPDX-License-Identifier: MIT
/* 'label'=value[unit];[warn];[crit];[min];[max], between blanks; what is none is passed over. */
#include "probes/perfdata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"

/* How many bytes at text are a number: -1.5, .5, 3e-05; 0 for none. */
static size_t number_length(const char *text)
{
	size_t sign = *text == '-' || *text == '+';
	size_t whole = strspn(text + sign, DIGITS);
	size_t length = sign + whole, fraction = 0, exponent;

	if (text[length] == '.') {
		fraction = strspn(text + length + 1, DIGITS);
		length += 1 + fraction;
	}
	if (whole + fraction == 0)
		return 0;
	if (text[length] == 'e' || text[length] == 'E') {
		sign = text[length + 1] == '-' || text[length + 1] == '+';
		exponent = strspn(text + length + 1 + sign, DIGITS);
		if (exponent > 0)
			length += 1 + sign + exponent;
	}
	return length;
}

/* Fills in what the text says. */
static void read_value(struct perfdata_value *value)
{
	size_t length = number_length(value->text);
	double number = strtod(value->text, NULL);

	value->type = strcmp(value->text, "U") == 0 ? PERFDATA_UNKNOWN : PERFDATA_UNREADABLE;
	value->value = NAN;
	value->unit = "";
	/* No unit has digits: 1,234 is a thousand to some and one to others, and 0x10 neither. */
	if (length == 0 || !isfinite(number) ||
		value->text[length + strcspn(value->text + length, DIGITS "\"'")] != '\0')
		return;
	value->type = PERFDATA_NUMBER;
	value->value = number;
	value->unit = value->text + length;
}

/* Takes the quotes off a label, in place; returns what follows it, or NULL. */
static char *unquote(char *item)
{
	char *to = item;
	const char *from = item + 1;

	while (*from != '\0' && (from[0] != '\'' || from[1] == '\'')) {
		from += *from == '\'';
		*to++ = *from++;
	}
	if (from[0] != '\'' || from[1] != '=')
		return NULL;
	*to = '\0';
	return item + (from - item) + 2;
}

/* The end of an item: tells of it if it is one. */
static void end_item(struct perfdata *perfdata)
{
	char *item = perfdata->item;
	struct perfdata_value value = {.label = item};
	size_t length = perfdata->length;
	bool whole = length > 0 && !perfdata->too_long && memchr(item, '\0', length) == NULL;
	char *text = NULL;

	perfdata->length = 0;
	perfdata->quoted = perfdata->labelled = perfdata->too_long = false;
	if (!whole)
		return;
	item[length] = '\0';
	if (*item == '\'') {
		text = unquote(item);
	} else if ((text = strchr(item, '=')) != NULL) {
		*text++ = '\0';
	}
	if (text == NULL || *item == '\0')
		return;
	text[strcspn(text, ";")] = '\0';
	value.text = text;
	read_value(&value);
	perfdata->found(perfdata->owner, &value);
}

static void take_data(struct perfdata *perfdata, char byte)
{
	bool blank = byte == ' ' || byte == '\t' || byte == '\r' || byte == '|';

	/* No label goes over a line: a lost quote must not take the lines after it along. */
	if (byte == '\n' || (blank && !perfdata->quoted)) {
		end_item(perfdata);
		return;
	}
	/* Two quotes inside quotes are one: they end it and begin it again. */
	if (byte == '\'' && !perfdata->labelled &&
		(perfdata->length == 0 || *perfdata->item == '\''))
		perfdata->quoted = !perfdata->quoted;
	else if (byte == '=' && !perfdata->quoted)
		perfdata->labelled = true;
	/* One byte is for the end of the string. */
	if (perfdata->length < sizeof(perfdata->item) - 1)
		perfdata->item[perfdata->length++] = byte;
	else
		perfdata->too_long = true;
}

/* Text up to a bar or, in the first line, its end. Returns how many bytes that took. */
static size_t take_text(struct perfdata *perfdata, const char *bytes, size_t length)
{
	const char *end = perfdata->place == PERFDATA_TITLE ? memchr(bytes, '\n', length) : NULL;
	const char *bar = memchr(bytes, '|', end == NULL ? length : (size_t)(end - bytes));

	if (bar != NULL) {
		perfdata->place++; /* to the data of the same lines */
		return (size_t)(bar - bytes) + 1;
	}
	if (end == NULL)
		return length;
	perfdata->place = PERFDATA_TEXT;
	return (size_t)(end - bytes) + 1;
}

void perfdata_take(struct perfdata *perfdata, const char *bytes, size_t length)
{
	while (length > 0 && perfdata->place != PERFDATA_OVER) {
		size_t taken = 1;

		if (perfdata->place == PERFDATA_TITLE || perfdata->place == PERFDATA_TEXT) {
			taken = take_text(perfdata, bytes, length);
		} else {
			take_data(perfdata, *bytes);
			if (perfdata->place == PERFDATA_TITLE_DATA && *bytes == '\n')
				perfdata->place = PERFDATA_TEXT;
			if (++perfdata->seen == PERFDATA_MOST)
				perfdata->place = PERFDATA_OVER;
		}
		bytes += taken;
		length -= taken;
	}
}

void perfdata_end(struct perfdata *perfdata)
{
	/* Cut off in the middle, its number may lack digits. */
	if (perfdata->place != PERFDATA_OVER)
		end_item(perfdata);
}
