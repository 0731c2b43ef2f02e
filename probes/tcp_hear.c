// SPDX-License-Identifier: MIT
/* What came back, judged by the step that expects something. Pure. */
#include <string.h>

#include "probes/tcp_step.h"

/* The same for bytes: an answer to a match of MATCH_YES or MATCH_NO. */
static enum match_result find_bytes(
	const struct stream_text *wanted, const struct match_subject *subject, size_t *ret_end)
{
	const char *found = subject->length == 0
		? NULL
		: memmem(subject->bytes, subject->length, wanted->bytes, wanted->length);

	if (found == NULL)
		return MATCH_NO;
	*ret_end = (size_t)(found - (const char *)subject->bytes) + wanted->length;
	return MATCH_YES;
}

/* From the end of a match to that of its line; false where it has not come. */
static bool take_line(const struct match_subject *subject, size_t *taken)
{
	const char *bytes = subject->bytes, *end;

	if (*taken > 0 && bytes[*taken - 1] == '\n')
		return true;
	end = memchr(bytes + *taken, '\n', subject->length - *taken);
	if (end == NULL && subject->unfinished)
		return false;
	*taken = end == NULL ? subject->length : (size_t)(end + 1 - bytes);
	return true;
}

enum tcp_heard tcp_step_hear(const struct tcp_step *step, const struct match_subject *subject,
	size_t *ret_taken, const char **ret_error)
{
	struct match_subject before = *subject;
	enum match_result wanted = step->expect != NULL
		? match_find(step->expect, subject, ret_taken, ret_error)
		: find_bytes(&step->expect_hex, subject, ret_taken);
	enum match_result unwanted = MATCH_NO;

	/* What follows the expected belongs to the next step. */
	if (wanted == MATCH_YES)
		before = (struct match_subject){.bytes = subject->bytes, .length = *ret_taken};
	if (wanted != MATCH_ERROR && step->reject != NULL)
		unwanted = match_find(step->reject, &before, NULL, ret_error);
	if (wanted == MATCH_ERROR || unwanted == MATCH_ERROR)
		return TCP_HEARD_ERROR;
	if (unwanted == MATCH_YES)
		return TCP_HEARD_REJECT;
	if (wanted == MATCH_YES && step->expect != NULL && !step->last &&
		!take_line(subject, ret_taken))
		return TCP_HEARD_LITTLE;
	return wanted == MATCH_YES ? TCP_HEARD_IT : TCP_HEARD_LITTLE;
}
