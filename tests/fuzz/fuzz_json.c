// SPDX-License-Identifier: MIT
/* The first line as assertions on JSON, the rest as the body: a verdict comes, with its words. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "probes/match_json.h"

struct row {
	struct conf_items json;
};

static const struct conf_field fields[] = {
	MATCH_JSON(struct row, json, .help = "Assertions"),
	{0},
};

static void judge(const struct row *row, const uint8_t *bytes, size_t length)
{
	char *body = malloc(length + 1);
	struct json_verdict verdict;

	FUZZ_HOLDS(body != NULL);
	/* Of its own size, so that a sanitizer sees what is read past its end. */
	body = realloc(body, length > 0 ? length : 1);
	FUZZ_HOLDS(body != NULL);
	memcpy(body, bytes, length);
	verdict = match_json(&row->json, body, length, NULL);
	FUZZ_HOLDS((verdict.status == PROBE_PASSING) == (verdict.text == NULL));
	FUZZ_HOLDS((verdict.reason == REASON_NONE) == (verdict.text == NULL));
	FUZZ_HOLDS(verdict.values.count <= row->json.count);
	measures_clear(&verdict.values);
	free(verdict.text);
	free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	const uint8_t *end = length == 0 ? NULL : memchr(bytes, '\n', length);
	size_t head = end == NULL ? length : (size_t)(end - bytes);
	struct conf_load load = {.arena = arena_create(), .diag = diag_create()};
	struct conf_node *tree = node_parse(load.arena, "f", (const char *)bytes, head, load.diag);
	struct row row = {0};

	if (tree != NULL && field_load(&load, fields, tree, NULL, &row) &&
		diag_errors(load.diag) == 0)
		judge(&row, end == NULL ? bytes : end + 1, end == NULL ? 0 : length - head - 1);
	diag_destroy(load.diag);
	arena_destroy(load.arena);
	return 0;
}
