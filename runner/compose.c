// SPDX-License-Identifier: MIT
/* One status out of those of several probes, and the words for it. */
#include "runner/compose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"

/* Bytes of what one member says: ten of them fit into a check's output. */
#define MEMBER_LINE 300

static enum probe_status counted(const struct compose_member *member, enum probe_status unknown)
{
	enum probe_status status = member->known ? member->status : unknown;

	return status < member->cap ? status : member->cap;
}

/* The wanted-th best, if those that are not known were as said. */
static enum probe_status nth_best(const struct compose_member *members, size_t count,
	unsigned int wanted, enum probe_status unknown)
{
	size_t passing = 0, fine = 0;

	for (size_t i = 0; i < count; i++) {
		enum probe_status status = counted(&members[i], unknown);

		passing += status == PROBE_PASSING;
		fine += status != PROBE_CRITICAL;
	}
	if (passing >= wanted)
		return PROBE_PASSING;
	return fine >= wanted ? PROBE_WARNING : PROBE_CRITICAL;
}

bool compose_judge(const struct compose_member *members, size_t count, unsigned int wanted,
	enum probe_status *ret_status)
{
	enum probe_status best = nth_best(members, count, wanted, PROBE_PASSING);

	if (nth_best(members, count, wanted, PROBE_CRITICAL) != best)
		return false;
	*ret_status = best;
	return true;
}

/* How members are told apart in the text, the gravest first. */
enum standing {
	CRITICAL,
	WARNING,
	NOT_COUNTED,
	NO_RESULT,
	PASSING,
	STANDINGS,
};

static enum standing standing_of(const struct compose_member *member)
{
	if (!member->known)
		return NO_RESULT;
	if (member->status == PROBE_PASSING)
		return PASSING;
	if (member->cap == PROBE_PASSING)
		return NOT_COUNTED;
	return counted(member, PROBE_CRITICAL) == PROBE_CRITICAL ? CRITICAL : WARNING;
}

static FILE *open_text(char **text, size_t *length)
{
	FILE *stream = open_memstream(text, length);

	if (stream == NULL)
		xfail();
	return stream;
}

static void close_text(FILE *stream)
{
	if (fclose(stream) != 0)
		xfail();
}

char *compose_line(const struct compose_member *members, size_t count, unsigned int wanted)
{
	static const char *const names[] = {
		[CRITICAL] = "critical",
		[WARNING] = "warning",
		[NOT_COUNTED] = "not counted",
		[NO_RESULT] = "no result yet",
	};
	size_t length, passing = 0;
	char *text = NULL;
	FILE *stream = open_text(&text, &length);

	for (size_t i = 0; i < count; i++)
		passing += standing_of(&members[i]) == PASSING;
	(void)fprintf(stream, "%zu of %zu passing", passing, count);
	if (passing < count && wanted == count)
		(void)fputs(", all wanted", stream);
	else if (wanted < count)
		(void)fprintf(stream, ", %u wanted", wanted);
	for (enum standing standing = CRITICAL; standing < PASSING; standing++) {
		const char *separator = NULL;

		for (size_t i = 0; i < count; i++) {
			if (standing_of(&members[i]) != standing)
				continue;
			if (separator == NULL)
				(void)fprintf(stream, "; %s: ", names[standing]);
			(void)fprintf(stream, "%s%s", separator == NULL ? "" : separator,
				members[i].name);
			separator = ", ";
		}
	}
	close_text(stream);
	return text;
}

/* As much of a line as one member may have, not cut within a character. */
static int cut(const char *line)
{
	size_t length = strcspn(line, "\n");

	if (length <= MEMBER_LINE)
		return (int)length;
	length = MEMBER_LINE;
	while (length > 0 && ((unsigned char)line[length] & 0xc0) == 0x80)
		length--;
	return (int)length;
}

char *compose_details(const struct compose_member *members, size_t count)
{
	size_t length;
	char *text = NULL;
	FILE *stream = open_text(&text, &length);

	for (enum standing standing = CRITICAL; standing < STANDINGS; standing++) {
		for (size_t i = 0; i < count; i++) {
			const struct compose_member *member = &members[i];

			if (standing_of(member) != standing)
				continue;
			(void)fprintf(stream, "%s: %s%s%s%.*s\n", member->name,
				standing == NOT_COUNTED ? "not counted: " : "",
				member->known ? status_name(member->status) : "no result yet",
				member->known && *member->line != '\0' ? ": " : "",
				member->known ? cut(member->line) : 0, member->line);
		}
	}
	close_text(stream);
	return text;
}
