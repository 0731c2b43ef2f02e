// SPDX-License-Identifier: MIT
/* What a Redis server may send: the same however it is split, and a verdict on each reply. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "probes/redis_judge.h"

/* What came of it, in a few numbers. */
struct sum {
	size_t replies;
	enum redis_read end;
	uint64_t hash;
};

static const char *const words[] = {"X", NULL};
static const struct redis_conf conf = {
	.steps = {{REDIS_AUTH, "AUTH", words, 1}, {REDIS_SELECT, "SELECT", words, 1},
		{REDIS_REPLICATION, "INFO replication", words, 1},
		{REDIS_CLUSTER, "CLUSTER INFO", words, 1},
		{REDIS_SENTINEL, "SENTINEL MASTER", words, 1},
		{REDIS_QUORUM, "SENTINEL CKQUORUM", words, 1}, {REDIS_COMMAND, "X", words, 1}},
	.step_count = REDIS_STEP_KINDS,
	.max_lag = {.note = 1, .warning = 2, .critical = 3},
	.sentinel = "m",
	.value = {.warning = {.text = "5", .to = 5}, .critical = {.text = "8", .to = 8}},
};

static void add_bytes(struct sum *sum, const char *bytes, size_t length)
{
	/* FNV-1a. */
	for (size_t i = 0; i < length; i++)
		sum->hash = (sum->hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
	sum->hash = (sum->hash ^ 0xff) * UINT64_C(1099511628211);
}

static void judge(struct sum *sum, const struct redis_reply *reply)
{
	struct measures measures = {0};
	size_t length;
	char *text = redis_reply_text(reply, &length);

	add_bytes(sum, text, length);
	free(text);
	for (size_t i = 0; i < conf.step_count; i++) {
		struct redis_verdict verdict =
			redis_judge(&conf, &conf.steps[i], reply, &measures, NULL);

		FUZZ_HOLDS(verdict.status == PROBE_CRITICAL || redis_reply_error(reply) == NULL);
		FUZZ_HOLDS(verdict.status != PROBE_CRITICAL || verdict.text != NULL);
		if (verdict.text != NULL)
			add_bytes(sum, verdict.text, strlen(verdict.text));
		free(verdict.text);
	}
	measures_clear(&measures);
}

/* Pieces of the given size, each in memory of its own, so that a sanitizer sees their ends. */
static struct sum read_all(const uint8_t *bytes, size_t length, size_t piece)
{
	struct sum sum = {.end = REDIS_READ_MORE};
	struct redis_reader *reader = redis_reader_create();
	struct redis_reply *reply;

	for (size_t at = 0; at < length && sum.end == REDIS_READ_MORE; at += piece) {
		size_t size = length - at < piece ? length - at : piece;
		char *copy = malloc(size);

		FUZZ_HOLDS(copy != NULL);
		memcpy(copy, bytes + at, size);
		redis_reader_feed(reader, copy, size);
		free(copy);
		while ((sum.end = redis_reader_next(reader, &reply)) == REDIS_READ_REPLY) {
			sum.replies++;
			judge(&sum, reply);
			redis_reply_destroy(reply);
		}
	}
	if (sum.end == REDIS_READ_NONSENSE) {
		const char *problem = redis_reader_problem(reader);

		FUZZ_HOLDS(*problem != '\0');
		add_bytes(&sum, problem, strlen(problem));
	}
	sum.hash += redis_reader_has_begun(reader);
	redis_reader_destroy(reader);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	const struct sum whole = read_all(bytes, length, length + 1);

	for (size_t piece = 1; piece <= 3; piece++) {
		const struct sum sum = read_all(bytes, length, piece);

		FUZZ_HOLDS(sum.replies == whole.replies && sum.end == whole.end);
		FUZZ_HOLDS(sum.hash == whole.hash);
	}
	return 0;
}
