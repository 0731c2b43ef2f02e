// SPDX-License-Identifier: MIT
/* The first line as a pattern, the rest as what it looks at: an answer comes, and soon. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "probes/match.h"

struct row {
	const struct match *match;
};

static const struct conf_field fields[] = {
	MATCH_PATTERN(struct row, match, .help = "Pattern"),
	{0},
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	const uint8_t *end = length == 0 ? NULL : memchr(bytes, '\n', length);
	struct conf_load load = {.arena = arena_create(), .diag = diag_create()};
	size_t head = end == NULL ? length : (size_t)(end - bytes);
	struct conf_node node = {
		.type = CONF_SCALAR,
		.mark = {.file = "f", .line = 1, .column = 1},
		.text = arena_strndup(load.arena, (const char *)bytes, head),
	};
	struct row row = {0};

	node.length = strlen(node.text);
	if (match_pattern.parse(&load, fields, &node, &row.match)) {
		const char *error = NULL;
		enum match_result result = match_bytes(row.match, end == NULL ? bytes : end + 1,
			end == NULL ? 0 : length - head - 1, &error);

		FUZZ_HOLDS(result == MATCH_YES || result == MATCH_NO || error != NULL);
		FUZZ_HOLDS(match_pattern.equal(fields, &row.match, &row.match));
	} else {
		FUZZ_HOLDS(diag_errors(load.diag) > 0 && row.match == NULL);
	}
	diag_destroy(load.diag);
	arena_destroy(load.arena);
	return 0;
}
