// SPDX-License-Identifier: MIT
/* The problems found in a configuration, gathered and sorted. */
#include "config/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"

/* Nobody reads further; it also keeps the sorted insertion below cheap. */
#define MOST_KEPT 20

/* The first MOST_KEPT errors and as many warnings, in order of their places. */
struct conf_diag {
	struct conf_problem kept[2 * MOST_KEPT];
	size_t count;
	size_t kept_of[2], found[2]; /* by severity */
};

static const char *const severity_names[] = {
	[CONF_ERROR] = "error",
	[CONF_WARNING] = "warning",
};

struct conf_diag *diag_create(void)
{
	return xcalloc(1, sizeof(struct conf_diag));
}

static void drop(struct conf_diag *diag, size_t index)
{
	struct conf_problem *problem = &diag->kept[index];

	diag->kept_of[problem->severity]--;
	free((char *)problem->mark.file);
	free((char *)problem->text);
	diag->count--;
	memmove(problem, problem + 1, (diag->count - index) * sizeof(*problem));
}

void diag_destroy(struct conf_diag *diag)
{
	if (diag == NULL)
		return;
	while (diag->count > 0)
		drop(diag, diag->count - 1);
	free(diag);
}

static int compare_marks(const struct conf_mark *a, const struct conf_mark *b)
{
	int order = strcmp(a->file, b->file);

	if (order != 0)
		return order;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return 0;
}

static bool is_known(const struct conf_diag *diag, const struct conf_problem *problem)
{
	for (size_t i = 0; i < diag->count; i++) {
		if (compare_marks(&diag->kept[i].mark, &problem->mark) == 0 &&
			diag->kept[i].severity == problem->severity &&
			strcmp(diag->kept[i].text, problem->text) == 0)
			return true;
	}
	return false;
}

/* Problems at one place stay in the order in which they were found. Takes the text. */
static void insert(struct conf_diag *diag, const struct conf_problem *problem)
{
	size_t place = diag->count;

	while (place > 0 && compare_marks(&diag->kept[place - 1].mark, &problem->mark) > 0)
		place--;
	memmove(&diag->kept[place + 1], &diag->kept[place],
		(diag->count - place) * sizeof(*diag->kept));
	diag->kept[place] = *problem;
	diag->kept[place].mark.file = xstrdup(problem->mark.file);
	diag->kept_of[problem->severity]++;
	diag->count++;
}

/* Makes room by giving up the last of a severity, if the new one comes before it. */
static bool make_room(struct conf_diag *diag, const struct conf_problem *problem)
{
	size_t last = diag->count;

	if (diag->kept_of[problem->severity] < MOST_KEPT)
		return true;
	do
		last--;
	while (diag->kept[last].severity != problem->severity);
	if (compare_marks(&problem->mark, &diag->kept[last].mark) >= 0)
		return false;
	drop(diag, last);
	return true;
}

void diag_add(struct conf_diag *diag, struct conf_mark mark, enum conf_severity severity,
	const char *format, ...)
{
	struct conf_problem problem = {.mark = mark, .severity = severity};
	va_list arguments;

	if (problem.mark.file == NULL)
		problem.mark.file = "";
	va_start(arguments, format);
	problem.text = xvprintf(format, arguments);
	va_end(arguments);
	if (!is_known(diag, &problem)) {
		diag->found[severity]++;
		if (make_room(diag, &problem)) {
			insert(diag, &problem);
			return;
		}
	}
	free((char *)problem.text);
}

size_t diag_errors(const struct conf_diag *diag)
{
	return diag->found[CONF_ERROR];
}

size_t diag_warnings(const struct conf_diag *diag)
{
	return diag->found[CONF_WARNING];
}

const struct conf_problem *diag_at(struct conf_diag *diag, size_t index)
{
	return index < diag->count ? &diag->kept[index] : NULL;
}

void diag_print(struct conf_diag *diag, FILE *stream)
{
	for (size_t i = 0; i < diag->count; i++) {
		const struct conf_problem *problem = &diag->kept[i];

		(void)fputs(problem->mark.file, stream);
		if (problem->mark.line > 0)
			(void)fprintf(stream, ":%u:%u", problem->mark.line, problem->mark.column);
		(void)fprintf(
			stream, ": %s: %s\n", severity_names[problem->severity], problem->text);
	}
	for (size_t severity = CONF_ERROR; severity <= CONF_WARNING; severity++) {
		size_t more = diag->found[severity] - diag->kept_of[severity];

		if (more > 0)
			(void)fprintf(stream, "and %zu more %s%s\n", more, severity_names[severity],
				more == 1 ? "" : "s");
	}
}
