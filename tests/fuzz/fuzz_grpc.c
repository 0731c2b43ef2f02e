// SPDX-License-Identifier: MIT
/* Answers of gRPC servers: the same verdict however they are cut, and SERVING said once only. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "probes/grpc_answer.h"

/* In memory of its own, so that a sanitizer sees its end. */
static bool give(struct grpc_answer *answer, const uint8_t *bytes, size_t length, bool line)
{
	char *copy = malloc(length);
	bool goes_on;

	FUZZ_HOLDS(copy != NULL);
	memcpy(copy, bytes, length);
	goes_on = line ? grpc_answer_line(answer, copy, length)
		       : grpc_answer_body(answer, copy, length);
	free(copy);
	return goes_on;
}

/* Lines up to the first NUL; libcurl hands over no empty one. Returns what was used up. */
static size_t give_lines(
	struct grpc_answer *answer, const uint8_t *bytes, size_t length, bool *goes_on)
{
	const uint8_t *end = memchr(bytes, '\0', length);
	size_t left = end == NULL ? length : (size_t)(end - bytes), at = 0;

	while (*goes_on && at < left) {
		const uint8_t *next = memchr(bytes + at, '\n', left - at);
		size_t size = next == NULL ? left - at : (size_t)(next + 1 - (bytes + at));

		*goes_on = give(answer, bytes + at, size, true);
		at += size;
	}
	return left + (end != NULL);
}

/* The input: headers, NUL, one byte with the length of the body, the body, trailers. */
static struct grpc_verdict judge(const uint8_t *bytes, size_t length, size_t piece)
{
	struct grpc_answer answer = {.stream = {.most = 1}};
	struct grpc_verdict verdict;
	bool goes_on = true;
	size_t at = give_lines(&answer, bytes, length, &goes_on);
	size_t body = at < length ? bytes[at++] : 0;

	for (size_t end = body < length - at ? at + body : length; goes_on && at < end;) {
		size_t size = end - at < piece ? end - at : piece;

		goes_on = give(&answer, bytes + at, size, false);
		at += size;
	}
	if (goes_on && at < length)
		(void)give_lines(&answer, bytes + at, length - at, &goes_on);
	(void)grpc_answer_progress(&answer);
	verdict = grpc_answer_judge(&answer, "service");
	if (verdict.status == PROBE_PASSING) {
		FUZZ_HOLDS(answer.stream.count == 1 && grpc_answer_code(&answer) == GRPC_OK);
		FUZZ_HOLDS(strcmp(verdict.text, "SERVING") == 0 && answer.status == 200);
		FUZZ_HOLDS(!grpc_answer_is_broken(&answer));
	}
	grpc_answer_finish(&answer);
	return verdict;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct grpc_verdict whole;

	if (length == 0)
		return 0;
	whole = judge(bytes, length, length);
	for (size_t piece = 1; piece <= 3; piece++) {
		const struct grpc_verdict cut = judge(bytes, length, piece);

		FUZZ_HOLDS(cut.status == whole.status && cut.reason == whole.reason);
		FUZZ_HOLDS(strcmp(cut.text, whole.text) == 0);
		free(cut.text);
	}
	free(whole.text);
	return 0;
}
