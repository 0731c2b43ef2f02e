/* SPDX-License-Identifier: MIT */
/* tests/unit/config_bench.h: loads YAML text by rows and tells what was wrong with it. */
#ifndef TESTS_UNIT_CONFIG_BENCH_H
#define TESTS_UNIT_CONFIG_BENCH_H

#include "config/field.h"

struct bench {
	struct conf_load load; /* its user member is the test's */
	const struct conf_node *tree; /* of the last bench_load() */
};

void bench_open(struct bench *bench);
void bench_close(struct bench *bench);

/* Reads text and fills conf by rows. True if there was no error. */
bool bench_load(struct bench *bench, const struct conf_field *fields, const char *text, void *conf);

/* "line:column: text\n" each, a warning with "warning: " before its text. In the arena. */
const char *bench_problems(struct bench *bench);

/* What field_print() writes. In the arena. */
const char *bench_print(struct bench *bench, const struct conf_field *fields, const void *conf);

/* Loads text and fails the test unless these are the problems; clears them. */
void bench_expect(struct bench *bench, const struct conf_field *fields, const char *text,
	const char *problems);

#endif
