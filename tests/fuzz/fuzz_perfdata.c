// SPDX-License-Identifier: MIT
/* Output of a plugin: the same values however it is cut into pieces, and all of them sound. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "probes/perfdata.h"

/* What was found, in a few numbers. */
struct sum {
	size_t count;
	uint64_t hash;
};

static void add_bytes(struct sum *sum, const char *text)
{
	/* FNV-1a. */
	for (; *text != '\0'; text++)
		sum->hash = (sum->hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
	sum->hash = (sum->hash ^ 0xff) * UINT64_C(1099511628211);
}

static void on_found(void *owner, const struct perfdata_value *value)
{
	struct sum *sum = owner;

	FUZZ_HOLDS(*value->label != '\0');
	FUZZ_HOLDS(strlen(value->label) + strlen(value->text) < PERFDATA_ITEM_MOST);
	FUZZ_HOLDS((value->type == PERFDATA_NUMBER) == (isfinite(value->value) != 0));
	FUZZ_HOLDS(value->type == PERFDATA_NUMBER || *value->unit == '\0');
	FUZZ_HOLDS(strpbrk(value->text, "\n;") == NULL && strchr(value->label, '\n') == NULL);
	sum->count++;
	add_bytes(sum, value->label);
	add_bytes(sum, value->text);
	add_bytes(sum, value->unit);
}

/* Pieces of the given size, each in memory of its own, so that a sanitizer sees their ends. */
static struct sum parse(const uint8_t *bytes, size_t length, size_t piece)
{
	struct sum sum = {0};
	struct perfdata perfdata = {.found = on_found, .owner = &sum};

	for (size_t at = 0; at < length; at += piece) {
		size_t size = length - at < piece ? length - at : piece;
		char *copy = malloc(size);

		FUZZ_HOLDS(copy != NULL);
		memcpy(copy, bytes + at, size);
		perfdata_take(&perfdata, copy, size);
		free(copy);
	}
	perfdata_end(&perfdata);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	const struct sum whole = parse(bytes, length, length + 1);

	for (size_t piece = 1; piece <= 3; piece++) {
		const struct sum sum = parse(bytes, length, piece);

		FUZZ_HOLDS(sum.count == whole.count && sum.hash == whole.hash);
	}
	return 0;
}
