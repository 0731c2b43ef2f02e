/* SPDX-License-Identifier: MIT */
/* tests/unit/match_bench.h: compiles and matches without the loader; JIT and engine can fail. */
#ifndef TESTS_UNIT_MATCH_BENCH_H
#define TESTS_UNIT_MATCH_BENCH_H

#include "unit.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/match.h"

/* As where memory may not be made executable. */
static bool no_jit;
int __real_pcre2_jit_compile_8(pcre2_code *code, uint32_t options);
int __wrap_pcre2_jit_compile_8(pcre2_code *code, uint32_t options);

int __wrap_pcre2_jit_compile_8(pcre2_code *code, uint32_t options)
{
	return no_jit ? PCRE2_ERROR_NOMEMORY : __real_pcre2_jit_compile_8(code, options);
}

/* What the engine is to say in place of looking; 0: it looks. */
static int engine_says;
int __real_pcre2_match_8(const pcre2_code *code, PCRE2_SPTR subject, PCRE2_SIZE length,
	PCRE2_SIZE start, uint32_t options, pcre2_match_data *data, pcre2_match_context *context);
int __wrap_pcre2_match_8(const pcre2_code *code, PCRE2_SPTR subject, PCRE2_SIZE length,
	PCRE2_SIZE start, uint32_t options, pcre2_match_data *data, pcre2_match_context *context);

int __wrap_pcre2_match_8(const pcre2_code *code, PCRE2_SPTR subject, PCRE2_SIZE length,
	PCRE2_SIZE start, uint32_t options, pcre2_match_data *data, pcre2_match_context *context)
{
	if (engine_says != 0)
		return engine_says;
	return __real_pcre2_match_8(code, subject, length, start, options, data, context);
}

/* The walker's part, as far as a kind needs it. */

static char problem[512];

bool field_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct conf_text *ret_text)
{
	(void)load;
	(void)field;
	*ret_text = (struct conf_text){.text = node->text, .shown = node->text};
	return true;
}

bool conf_error(struct conf_load *load, const struct conf_node *node, const char *format, ...)
{
	va_list arguments;

	(void)load;
	(void)node;
	va_start(arguments, format);
	(void)vsnprintf(problem, sizeof(problem), format, arguments);
	va_end(arguments);
	return false;
}

static struct conf_load load;
static const struct conf_field row = {.key = "expect"};

static inline const struct match *compile(const char *pattern)
{
	struct conf_node node = {.type = CONF_SCALAR, .text = pattern, .length = strlen(pattern)};
	const struct match *match = NULL;

	problem[0] = '\0';
	return match_pattern.parse(&load, &row, &node, &match) ? match : NULL;
}

/* Text of n bytes made by repeating a word. */
static inline char *repeat(const char *word, size_t n)
{
	char *text = malloc(n);

	for (size_t i = 0; i < n; i++)
		text[i] = word[i % strlen(word)];
	return text;
}

static inline int make_arena(void **state)
{
	(void)state;
	load.arena = arena_create();
	return 0;
}

static inline int destroy_arena(void **state)
{
	(void)state;
	arena_destroy(load.arena);
	return 0;
}

#endif
