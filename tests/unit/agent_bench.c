// SPDX-License-Identifier: MIT
/* The configuration of the tests, and what they do and see. */
#include "tests/unit/agent_bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "runner/log.h"

struct fake_agent fake;
struct ev_loop *loop;
char journal[8192];
char said[8192];
struct register_conf registration = {.name = "web", .weights = {1, 1}};
struct service_conf services[1];
struct check_conf checks[4];
struct settings settings;
struct agent *agent;

void log_write(enum log_level level, const char *format, ...)
{
	va_list arguments;
	size_t used = strlen(said);

	(void)level;
	va_start(arguments, format);
	(void)vsnprintf(said + used, sizeof(said) - used, format, arguments);
	va_end(arguments);
	strncat(said, "\n", sizeof(said) - strlen(said) - 1);
}

static void set_check(size_t index, const char *id, const char *name, bool node)
{
	checks[index] = (struct check_conf){.id = id,
		.name = name,
		.ttl = 3,
		.node = node,
		.max_status = PROBE_CRITICAL,
		.service = node ? NULL : &services[0]};
}

int set_up(void **unused)
{
	(void)unused;
	memset(&fake, 0, sizeof(fake));
	fake.checks = json_object();
	fake.services = json_object();
	fake.catalog = json_array();
	journal[0] = said[0] = '\0';
	loop = ev_default_loop(0);
	services[0] = (struct service_conf){.id = "web-1"};
	set_check(0, "a", "a", false);
	set_check(1, "b", "b", false);
	set_check(2, "n", "n", true);
	settings = (struct settings){.consul.timeout = 5,
		.instance = "test",
		.services = services,
		.service_count = 1,
		.checks = checks,
		.check_count = 2};
	return 0;
}

int tear_down(void **unused)
{
	(void)unused;
	agent_destroy(agent);
	agent = NULL;
	json_decref(fake.checks);
	json_decref(fake.services);
	json_decref(fake.catalog);
	ev_loop_destroy(loop);
	return 0;
}

static void on_time(struct ev_loop *the_loop, ev_timer *timer, int events)
{
	(void)timer;
	(void)events;
	ev_break(the_loop, EVBREAK_ALL);
}

void run_for(double seconds)
{
	ev_timer timer;

	ev_timer_init(&timer, on_time, seconds, 0);
	ev_now_update(loop);
	ev_timer_start(loop, &timer);
	ev_run(loop, 0);
}

void expect(const char *wanted)
{
	run_for(0.15);
	assert_string_equal(journal, wanted);
	journal[0] = '\0';
}

void publish(const char *id, enum probe_status status, const char *output)
{
	const struct claim claim = {.status = status, .output = output, .fresh_until = HUGE_VAL};

	agent_publish(agent_find(agent, id), &claim);
}

void know_service(void)
{
	(void)json_object_set_new(fake.services, "web-1",
		json_pack("{s:s, s:{s:i, s:i}}", "Service", "web", "Weights", "Passing", 1,
			"Warning", 1));
}

void know_check(const char *id, const char *service, const char *notes, const char *type)
{
	(void)json_object_set_new(fake.checks, id,
		json_pack("{s:s, s:s, s:s, s:s, s:s}", "CheckID", id, "Type", type, "Status",
			"passing", "ServiceID", service, "Notes", notes));
}

size_t count_lines(const char *part)
{
	size_t count = 0;

	for (const char *at = said; (at = strstr(at, part)) != NULL; at++)
		count++;
	return count;
}
