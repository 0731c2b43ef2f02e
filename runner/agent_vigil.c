// SPDX-License-Identifier: MIT
/* Services are watched by calls that the agent answers when they change or go. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "runner/agent_calls.h"

/* The agent takes 200 connections of this host, and other programs want theirs. */
#define MOST_VIGILS 32
#define UNKNOWN "0" /* no hash of a service: the agent answers at once with the true one */
#define PACE 1.0 /* s between two calls: an agent that knows no hash answers each at once */
#define MOST_DELAY 30.0 /* s between two calls that fail */

static void on_next(struct ev_loop *loop, ev_timer *timer, int events);

void agent_vigil_init(struct agent_service *service)
{
	struct agent_vigil *vigil = &service->vigil;

	vigil->service = service;
	ev_init(&vigil->next, on_next);
	vigil->next.data = vigil;
}

void agent_vigil_end(struct agent_service *service)
{
	struct agent_vigil *vigil = &service->vigil;

	if (vigil->hash == NULL)
		return;
	if (vigil->call != NULL)
		(void)consul_cancel(vigil->call);
	ev_timer_stop(service->agent->loop, &vigil->next);
	free(vigil->hash);
	vigil->hash = NULL;
	vigil->call = NULL;
	vigil->delay = 0;
	service->agent->vigils--;
}

static void go_on(struct agent_vigil *vigil, double after)
{
	struct ev_loop *loop = vigil->service->agent->loop;

	ev_timer_stop(loop, &vigil->next);
	ev_now_update(loop);
	ev_timer_set(&vigil->next, fmax(after, 0), 0);
	ev_timer_start(loop, &vigil->next);
}

static const char *hash_of(const json_t *service)
{
	return json_string_value(json_object_get(service, "ContentHash"));
}

/* Somebody has registered it anew: our checks may be gone, and what it says may not be ours. */
static void note_change(struct agent_vigil *vigil, const char *hash)
{
	struct agent_service *service = vigil->service;
	bool first = strcmp(vigil->hash, UNKNOWN) == 0;

	if (hash == NULL || strcmp(hash, vigil->hash) == 0)
		return;
	agent_set_text(&vigil->hash, hash);
	if (first)
		return;
	agent_inventory_take(service->agent);
	if (service->conf->registration != NULL)
		agent_service_set(service, SERVICE_LOOK, clock_monotonic());
}

/*
 * This call says nothing of the agent as a whole: it leaves the gate alone, and where it
 * fails the heartbeats notice what it would have told.
 */
static void on_answer(void *owner, const struct consul_answer *answer)
{
	struct agent_vigil *vigil = owner;
	struct agent_service *service = vigil->service;
	double now = clock_monotonic();

	vigil->call = NULL;
	switch (answer->result) {
	case CONSUL_OK:
		vigil->delay = 0;
		note_change(vigil, hash_of(answer->json));
		if (vigil->hash != NULL) /* it goes on */
			go_on(vigil, vigil->since + PACE - now);
		agent_queue_run(&service->agent->queue);
		break;
	case CONSUL_NOT_FOUND:
		agent_service_set(service, SERVICE_LOOK, now);
		agent_queue_run(&service->agent->queue);
		break;
	default:
		vigil->delay = fmin(fmax(vigil->delay * 2, PACE), MOST_DELAY);
		go_on(vigil, vigil->delay);
		break;
	}
}

static void on_next(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct agent_vigil *vigil = timer->data;
	struct agent_service *service = vigil->service;
	const struct consul_reply reply = {.done = on_answer, .owner = vigil};

	(void)loop;
	(void)events;
	if (service->agent->stopped != NULL)
		return;
	vigil->since = clock_monotonic();
	vigil->call =
		consul_service_wait(service->agent->consul, service->conf->id, vigil->hash, reply);
}

void agent_vigil_keep(struct agent_service *service, const json_t *found)
{
	const char *hash = found == NULL ? UNKNOWN : hash_of(found);

	agent_vigil_end(service);
	if (hash == NULL || service->agent->vigils == MOST_VIGILS)
		return;
	agent_set_text(&service->vigil.hash, hash);
	service->agent->vigils++;
	go_on(&service->vigil, 0);
}
