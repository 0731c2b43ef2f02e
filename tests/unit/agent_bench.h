/* SPDX-License-Identifier: MIT */
/* tests/unit/agent_bench.h: an agent in memory in place of runner/consul.c, and a configuration. */
#ifndef TESTS_UNIT_AGENT_BENCH_H
#define TESTS_UNIT_AGENT_BENCH_H

#include "tests/unit/unit.h"

#include <jansson.h>

#include "runner/agent.h"

#define MARK "[probity:test]" /* what a registration of ours ends its Notes with */

/* Every call is a word of the journal and is answered in the next pass of the loop. */
extern struct fake_agent {
	json_t *checks, *services; /* by id, as the real one lists them */
	json_t *catalog; /* a list of checks */
	unsigned int looks; /* at it */
	int code; /* answers every PUT of a check with it; 0: honest */
	bool away; /* nobody listens */
	bool silent; /* takes calls, never answers */
	bool token_waits; /* the next refresh finds another token */
	const char *slow; /* an update of this check is answered 0.3 s later, as it was when sent */
	bool slow_list; /* so is agent/checks */
	unsigned int vigils; /* calls that wait for a service to change */
	double oldest; /* monotonic: since when a call is under way; 0: none is */
} fake;

extern char journal[8192];
extern char said[8192]; /* what was logged */
extern struct ev_loop *loop;

/* Checks a and b of the service web-1, and a node check n, which check_count leaves out. */
extern struct register_conf registration;
extern struct service_conf services[1];
extern struct check_conf checks[4];
extern struct settings settings;
extern struct agent *agent; /* made by the test */

int set_up(void **unused);
int tear_down(void **unused);

void run_for(double seconds);
void expect(const char *wanted); /* the journal a moment later; empties it */
void publish(const char *id, enum probe_status status, const char *output);
void end_vigil(int code); /* the call that waits is answered, with what is there if 200 */
void know_service(void); /* somebody registers web-1 */
void know_check(const char *id, const char *service, const char *notes, const char *type);
size_t count_lines(const char *part); /* how often it was logged */
const char *text(const json_t *object, const char *key);

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
