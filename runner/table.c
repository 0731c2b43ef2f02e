// SPDX-License-Identifier: MIT
/* Columns as wide as their widest cell. */
#include "runner/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "config/arena.h"

/* The last column keeps this much of a narrow terminal, and lets it wrap. */
#define LAST_LEAST 20

struct row {
	char *cells[TABLE_COLUMNS];
	char *note; /* in place of cells */
};

struct table {
	const char *titles[TABLE_COLUMNS];
	size_t columns;
	struct row *rows;
	size_t count, room;
};

struct table *table_create(const char *const *titles)
{
	struct table *table = xcalloc(1, sizeof(*table));

	while (table->columns < TABLE_COLUMNS && titles[table->columns] != NULL) {
		table->titles[table->columns] = titles[table->columns];
		table->columns++;
	}
	return table;
}

void table_destroy(struct table *table)
{
	if (table == NULL)
		return;
	for (size_t i = 0; i < table->count; i++) {
		for (size_t j = 0; j < table->columns; j++)
			free(table->rows[i].cells[j]);
		free(table->rows[i].note);
	}
	free(table->rows);
	free(table);
}

/* A copy on one line: a tab or a newline would break the columns. */
static char *copy_cell(const char *text)
{
	char *copy = xstrdup(text == NULL ? "" : text);

	for (char *c = copy; *c != '\0'; c++) {
		if ((unsigned char)*c < ' ')
			*c = ' ';
	}
	return copy;
}

static struct row *add_row(struct table *table)
{
	if (table->count == table->room) {
		table->room = table->room * 2 + 8;
		table->rows = xrealloc(table->rows, table->room, sizeof(*table->rows));
	}
	table->rows[table->count] = (struct row){0};
	return &table->rows[table->count++];
}

void table_add(struct table *table, const char *const *cells)
{
	struct row *row = add_row(table);

	for (size_t i = 0; i < table->columns; i++)
		row->cells[i] = copy_cell(cells[i]);
}

void table_add_note(struct table *table, const char *text)
{
	add_row(table)->note = copy_cell(text);
}

/* Columns that a UTF-8 text takes, at one a code point: good enough for ids and messages. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text != '\0'; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static size_t column_width(const struct table *table, size_t column)
{
	size_t widest = width_of(table->titles[column]);

	for (size_t i = 0; i < table->count; i++) {
		size_t width =
			table->rows[i].note != NULL ? 0 : width_of(table->rows[i].cells[column]);

		widest = width > widest ? width : widest;
	}
	return widest;
}

static const char *colour_of(const char *cell)
{
	static const struct {
		const char *text, *code;
	} colours[] = {
		{"passing", "\033[32m"},
		{"warning", "\033[33m"},
		{"critical", "\033[1;31m"},
	};

	for (size_t i = 0; i < sizeof(colours) / sizeof(*colours); i++) {
		if (strcmp(colours[i].text, cell) == 0)
			return colours[i].code;
	}
	return NULL;
}

/* The columns of the terminal behind the stream; a file has no end. */
static size_t screen_width(FILE *stream)
{
	struct winsize size;

	if (isatty(fileno(stream)) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 &&
		size.ws_col > 0)
		return size.ws_col;
	return (size_t)-1;
}

/* Bytes of text that fit into `most` columns. */
static size_t bytes_within(const char *text, size_t most)
{
	size_t bytes = 0, width = 0;

	while (text[bytes] != '\0') {
		width += ((unsigned char)text[bytes] & 0xc0) != 0x80;
		if (width > most)
			break;
		bytes++;
	}
	return bytes;
}

static void print_cell(const char *cell, size_t width, bool colour, FILE *stream)
{
	const char *code = colour ? colour_of(cell) : NULL;
	size_t used = width_of(cell);

	(void)fprintf(
		stream, "%s%s%s", code == NULL ? "" : code, cell, code == NULL ? "" : "\033[0m");
	(void)fprintf(stream, "%*s", (int)(width > used ? width - used : 0) + 2, "");
}

static void print_row(const struct table *table, const char *const *cells, const size_t *widths,
	bool colour, FILE *stream)
{
	size_t last = 0, used = 0;
	size_t room = screen_width(stream);

	for (size_t i = 0; i + 1 < table->columns; i++) {
		print_cell(cells[i], widths[i], colour, stream);
		used += widths[i] + 2;
		last = i + 1;
	}
	room = room > used + LAST_LEAST ? room - used : LAST_LEAST;
	(void)fprintf(stream, "%.*s\n", (int)bytes_within(cells[last], room), cells[last]);
}

void table_print(const struct table *table, bool colour, FILE *stream)
{
	size_t widths[TABLE_COLUMNS] = {0};

	for (size_t i = 0; i < table->columns; i++)
		widths[i] = column_width(table, i);
	print_row(table, table->titles, widths, false, stream);
	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->rows[i];

		if (row->note != NULL)
			(void)fprintf(stream, "    %s\n", row->note);
		else
			print_row(table, (const char *const *)row->cells, widths, colour, stream);
	}
}

bool table_wants_colour(FILE *stream)
{
	const char *terminal = getenv("TERM");
	const char *refused = getenv("NO_COLOR"); /* a convention of many tools: any text counts */

	return isatty(fileno(stream)) && (refused == NULL || *refused == '\0') &&
		terminal != NULL && strcmp(terminal, "dumb") != 0;
}

void table_duration(double seconds, char *text, size_t size)
{
	/* lround's range ends before a double's; 10^15 s are 30 million years. */
	long whole = seconds < 1e15 ? lround(seconds) : 1000000000000000;

	if (seconds < 0)
		(void)snprintf(text, size, "-");
	else if (seconds < 0.9995)
		(void)snprintf(text, size, "%.0fms", seconds * 1000);
	else if (seconds < 59.95)
		(void)snprintf(text, size, "%.1fs", seconds);
	else if (whole < 3600)
		(void)snprintf(text, size, "%ldm%02lds", whole / 60, whole % 60);
	else if (whole < 86400)
		(void)snprintf(text, size, "%ldh%02ldm", whole / 3600, whole / 60 % 60);
	else
		(void)snprintf(text, size, "%ldd%02ldh", whole / 86400, whole / 3600 % 24);
}
