// SPDX-License-Identifier: MIT
/* Loads YAML text by rows and tells what was wrong with it. */
#include "config_bench.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* The environment of the tests; SECRET is what must never be seen. */
static const char *environment(const char *name)
{
	static const char *const variables[][2] = {{"SECRET", "S3CRET"}, {"HOST", "10.0.0.1"},
		{"EMPTY", ""}, {"BINARY", "a\xff"}, {"DOLLAR", "${HOST}"}, {"PORT", "8080"}};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		if (strcmp(variables[i][0], name) == 0)
			return variables[i][1];
	}
	return NULL;
}

void bench_open(struct bench *bench)
{
	*bench = (struct bench){.load = {
					.arena = arena_create(),
					.diag = diag_create(),
					.getenv = environment,
				}};
}

void bench_close(struct bench *bench)
{
	diag_destroy(bench->load.diag);
	arena_destroy(bench->load.arena);
}

bool bench_load(struct bench *bench, const struct conf_field *fields, const char *text, void *conf)
{
	bool fine;

	bench->tree = node_parse(bench->load.arena, "t.yaml", text, strlen(text), bench->load.diag);
	fine = bench->tree != NULL && field_load(&bench->load, fields, bench->tree, NULL, conf);
	/* What is reported and what is returned must agree. */
	if (bench->tree != NULL && fine)
		return diag_errors(bench->load.diag) == 0;
	assert_true(diag_errors(bench->load.diag) > 0);
	return false;
}

const char *bench_problems(struct bench *bench)
{
	const struct conf_problem *problem;
	const char *all = "";

	for (size_t i = 0; (problem = diag_at(bench->load.diag, i)) != NULL; i++)
		all = arena_printf(bench->load.arena, "%s%u:%u: %s%s\n", all, problem->mark.line,
			problem->mark.column, problem->severity == CONF_WARNING ? "warning: " : "",
			problem->text);
	return all;
}

const char *bench_print(struct bench *bench, const struct conf_field *fields, const void *conf)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	const char *copy;

	assert_non_null(stream);
	field_print(fields, conf, 0, stream);
	assert_int_equal(fclose(stream), 0);
	copy = arena_strdup(bench->load.arena, text);
	free(text);
	return copy;
}

void bench_expect(struct bench *bench, const struct conf_field *fields, const char *text,
	const char *problems)
{
	/* Larger than any struct of these tests. */
	_Alignas(max_align_t) unsigned char conf[1024] = {0};

	(void)bench_load(bench, fields, text, conf);
	if (strcmp(bench_problems(bench), problems) != 0)
		print_message("for: %s\n", text);
	assert_string_equal(bench_problems(bench), problems);
	diag_destroy(bench->load.diag);
	bench->load.diag = diag_create();
}
