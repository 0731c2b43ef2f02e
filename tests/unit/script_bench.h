/* SPDX-License-Identifier: MIT */
/* tests/unit/script_bench.h: runs the script probe without the loader of configurations. */
#ifndef TESTS_UNIT_SCRIPT_BENCH_H
#define TESTS_UNIT_SCRIPT_BENCH_H

#include "tests/unit/unit.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/child.h"
#include "probes/clock.h"
#include "probes/probe_start.h"
#include "probes/remains.h"
#include "probes/script.h"
#include "probes/types.h"

/* The rows name these; nothing here reads by rows. */
const struct conf_kind conf_string, conf_path, conf_bool, conf_count, conf_duration, conf_size;
const struct conf_kind conf_mode, conf_list_of_strings, conf_map_of_secrets, conf_map;
const struct conf_kind conf_secret_text, conf_integer, conf_named;
/* probe.c names the other types too. */
#define ABSENT(name) __attribute__((weak)) const struct probe_type probe_##name;
PROBE_TYPES(ABSENT)

static char complaint[512];

bool conf_error(struct conf_load *load, const struct conf_node *node, const char *format, ...)
{
	va_list arguments;

	(void)load;
	(void)node;
	va_start(arguments, format);
	(void)vsnprintf(complaint, sizeof(complaint), format, arguments);
	va_end(arguments);
	return false;
}

bool conf_error_at(struct conf_load *load, struct conf_mark mark, const char *format, ...)
{
	va_list arguments;

	(void)load;
	(void)mark;
	va_start(arguments, format);
	(void)vsnprintf(complaint, sizeof(complaint), format, arguments);
	va_end(arguments);
	return false;
}

bool field_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct conf_text *ret_text)
{
	(void)load;
	(void)field;
	(void)node;
	(void)ret_text;
	return false;
}

void field_print_text(const char *text, FILE *stream)
{
	(void)text;
	(void)stream;
}

struct conf_node *node_get(const struct conf_node *mapping, const char *key)
{
	(void)mapping;
	(void)key;
	return NULL;
}

struct conf_mark node_mark(const struct conf_node *mapping, const char *key)
{
	(void)mapping;
	(void)key;
	return (struct conf_mark){0};
}

static struct ev_loop *loop;
static struct arena *arena;
static struct remains *remains;

static inline int set_up(void **state)
{
	(void)state;
	loop = ev_default_loop(0);
	arena = arena_create();
	remains = remains_create(NULL, NULL);
	return child_setup(loop);
}

static inline int tear_down(void **state)
{
	(void)state;
	child_finish(2);
	remains_release(remains);
	arena_destroy(arena);
	ev_loop_destroy(loop);
	return 0;
}

static inline bool check(struct script_conf *conf)
{
	const struct conf_node node = {.type = CONF_MAPPING};
	struct conf_load load = {.arena = arena};

	complaint[0] = '\0';
	return script_check(conf, &node, &load);
}

/* As the defaults of the rows are. */
static inline struct script_conf default_conf(void)
{
	return (struct script_conf){.cwd = "/",
		.umask = 022,
		.nice = CONF_NO_INTEGER,
		.kill_grace = 1,
		.no_new_privs = true,
		.passing_exit = {{1U << 0}},
		.warning_exit = {{1U << 1}}};
}

static inline struct script_conf command_conf(const char *const *items)
{
	struct script_conf conf = default_conf();

	conf.command.items = items;

	while (items[conf.command.count] != NULL)
		conf.command.count++;
	return conf;
}

static inline struct script_conf shell_conf(const char *text)
{
	struct script_conf conf = default_conf();

	conf.shell = text;
	return conf;
}

static bool finished;

static inline void on_finished(void *owner)
{
	(void)owner;
	finished = true;
	ev_break(loop, EVBREAK_ALL);
}

static inline void on_late(struct ev_loop *the_loop, ev_timer *watcher, int events)
{
	(void)watcher;
	(void)events;
	ev_break(the_loop, EVBREAK_ALL);
}

static inline struct probe *start(const struct script_conf *conf, struct outcome *outcome)
{
	const struct probe_setup setup = {.type = &probe_script,
		.conf = conf,
		.loop = loop,
		.outcome = outcome,
		.remains = remains,
		.timeout = 5,
		.finished = on_finished};

	finished = false;
	return probe_start(&setup);
}

static inline void turn(double seconds)
{
	ev_timer late;

	ev_now_update(loop);
	ev_timer_init(&late, on_late, seconds, 0);
	ev_timer_start(loop, &late);
	ev_run(loop, 0);
	ev_timer_stop(loop, &late);
}

/* Runs it once; the text is what would be published. */
static inline void run(const struct script_conf *conf, enum probe_status status, const char *wanted)
{
	struct outcome outcome = {0};
	struct probe *probe = start(conf, &outcome);
	char *line, *text;

	turn(20);
	assert_true(finished);
	line = outcome_line(&outcome);
	text = output_render(&outcome.output, line);
	assert_string_equal(text, wanted);
	assert_int_equal(outcome.status, status);
	free(text);
	free(line);
	probe_destroy(probe);
	outcome_clear(&outcome);
	assert_int_equal(remains_count(remains), 0);
}

#endif
