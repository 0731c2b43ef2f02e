/* SPDX-License-Identifier: MIT */
/* runner/agent_calls.h: what the parts of the agent ask of each other; private to agent*.c. */
#ifndef RUNNER_AGENT_CALLS_H
#define RUNNER_AGENT_CALLS_H

#include "runner/agent_whole.h"
#include "runner/consul_calls.h"

/* agent_answer.c: what an answer says of the agent as a whole. */

enum agent_verdict {
	VERDICT_DONE,
	VERDICT_FAILED, /* the gate is closed: the caller is due at once, the gate sets the pace */
	VERDICT_REFUSED, /* 403, 400: the caller backs off */
	VERDICT_UNKNOWN, /* 404, 500: the caller finds out whose fault it is, and says so below */
};

/*
 * The task's call is over. An answer proves the agent well, unless `proves` is
 * false: then it was asked for to judge an earlier one.
 */
enum agent_verdict agent_judge(struct agent *agent, struct agent_task *task,
	const struct consul_answer *answer, bool proves);
void agent_failed(struct agent *agent, const char *cause);
void agent_well(struct agent *agent);
double agent_back_off(double *delay); /* s to wait: the next of a growing row */
struct publish_now agent_now(void);
void agent_set_text(char **text, const char *value); /* value may be NULL */

/* Reads a token that was replaced. What depends on it is due again. */
void agent_refresh(struct agent *agent);
void agent_token_changed(void *agent);

/* agent_check.c: what a check needs next. */

struct agent_check *agent_check_create(struct agent *agent, const struct check_conf *conf);
void agent_check_destroy(struct agent_check *check); /* accepts NULL */
void agent_check_arm(struct agent_check *check);

/* agent_seen.c: where a check stands on the agent. */

void agent_check_look(struct agent_check *check, const json_t *checks); /* its own look */
void agent_check_seen(struct agent_check *check, const json_t *checks); /* an inventory */
void agent_check_urge(struct agent_check *check); /* undecided, where its service is bare */
void agent_check_registered(struct agent_check *check); /* as sent_definition says */
void agent_check_trouble(
	struct agent_check *check, enum agent_trouble trouble, const char *problem);

void agent_say_found(struct agent *agent); /* if nothing is lost any more, and it was said */

/* agent_service.c */

struct agent_service *agent_service_create(struct agent *agent, const struct service_conf *conf);
void agent_service_destroy(struct agent_service *service); /* accepts NULL */
void agent_service_arm(struct agent_service *service);
void agent_service_set(struct agent_service *service, enum agent_service_step step, double at);

/* Calls f for each check of the service: rare enough to walk all. */
void agent_service_each(struct agent_service *service,
	void (*f)(struct agent_check *check, void *data), void *data);

/* agent_reap.c */

/* It is ours and not on the agent. True if it is to be registered; else it is waited for. */
bool agent_reap_allows(struct agent_service *service);
void agent_reap_end(struct agent_service *service); /* it is there, by whomever */
void agent_reap_note(struct agent_check *check); /* an update was accepted */
void agent_reap_restart(struct agent *agent); /* the agent counts anew */

/* agent_vigil.c */

void agent_vigil_init(struct agent_service *service);
/* found: the service as the agent tells it; NULL: it is there. */
void agent_vigil_keep(struct agent_service *service, const json_t *found);
void agent_vigil_end(struct agent_service *service);

/* agent_inventory.c */

void agent_inventory_init(struct agent *agent);
void agent_inventory_take(struct agent *agent);
void agent_inventory_follow(struct agent *agent); /* another configuration */
void agent_inventory_finish(struct agent *agent); /* drops everything under way */

/* agent_reload.c */

/* The checks and services of agent->settings; what is in the arrays now is kept or let go. */
void agent_follow(struct agent *agent);
int agent_compare_check(const void *a, const void *b); /* pointers to struct agent_check * */
int agent_compare_service(const void *a, const void *b);

/* agent_stop.c */

void agent_stop_note(struct agent_check *check, bool pending);
void agent_stop_release(struct agent *agent); /* one thing less to wait for */

#endif
