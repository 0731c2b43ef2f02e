// SPDX-License-Identifier: MIT
/* A new configuration: what stays keeps its state, what left lets go of its calls. */
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "runner/agent_calls.h"

int agent_compare_check(const void *a, const void *b)
{
	const struct agent_check *const *left = a, *const *right = b;

	return strcmp((*left)->conf->id, (*right)->conf->id);
}

int agent_compare_service(const void *a, const void *b)
{
	const struct agent_service *const *left = a, *const *right = b;

	return strcmp((*left)->conf->id, (*right)->conf->id);
}

/* Takes the check or service of this id out of a sorted array; NULL if there is none. */
static void *take(void **array, size_t count, const void *key,
	int (*compare)(const void *, const void *), bool *taken)
{
	void **found = count == 0 ? NULL : bsearch(&key, array, count, sizeof(*array), compare);

	if (found == NULL || taken[found - array])
		return NULL;
	taken[found - array] = true;
	return *found;
}

/* With another registration it is looked at, and what differs is registered. */
static void adapt_service(struct agent_service *service, const struct service_conf *conf)
{
	const struct service_conf *before = service->conf;
	bool ours = conf->registration != NULL, was_ours = before->registration != NULL;
	json_t *old = was_ours ? register_service_body(before) : json_null();
	json_t *new = ours ? register_service_body(conf) : json_null();

	service->conf = conf;
	if (!json_equal(old, new) && ours) {
		service->step = SERVICE_LOOK;
		service->at = 0;
	}
	json_decref(old);
	json_decref(new);
}

static void follow_services(struct agent *agent)
{
	const struct settings *settings = agent->settings;
	struct agent_service **old = agent->services, **now;
	size_t old_count = agent->service_count, count = 0;
	bool *taken = xcalloc(old_count + 1, sizeof(*taken));

	now = xcalloc(settings->service_count + 1, sizeof(struct agent_service *));
	for (size_t i = 0; i < settings->service_count; i++) {
		const struct service_conf *conf = &settings->services[i];
		const struct agent_service key = {.conf = conf};
		struct agent_service *service;

		if (conf->id == NULL) /* a file of node checks */
			continue;
		service = take((void **)old, old_count, &key, agent_compare_service, taken);
		if (service == NULL)
			service = agent_service_create(agent, conf);
		now[count++] = service;
	}
	for (size_t i = 0; i < old_count; i++) {
		if (!taken[i])
			agent_service_destroy(old[i]);
	}
	/* Only now: the old array is searched by what the old settings say. */
	for (size_t i = 0, j = 0; i < settings->service_count; i++) {
		if (settings->services[i].id != NULL)
			adapt_service(now[j++], &settings->services[i]);
	}
	qsort(now, count, sizeof(struct agent_service *), agent_compare_service);
	agent->services = now;
	agent->service_count = count;
	free(old);
	free(taken);
}

static struct agent_service *service_of(const struct agent *agent, const struct check_conf *conf)
{
	for (size_t i = 0; !conf->node && conf->service != NULL && i < agent->service_count; i++) {
		if (agent->services[i]->conf == conf->service)
			return agent->services[i];
	}
	return NULL;
}

static void adapt_check(struct agent_check *check, const struct check_conf *conf)
{
	if (!register_same_definition(check->conf, conf)) {
		/* With the next claim, at once: registering alone would renew the TTL. */
		check->definition++;
		publish_forget(&check->slot);
	}
	check->conf = conf;
	check->slot.ttl = conf->ttl;
	check->service = service_of(check->agent, conf);
}

static void follow_checks(struct agent *agent)
{
	const struct settings *settings = agent->settings;
	struct agent_check **old = agent->checks, **now;
	size_t old_count = agent->check_count, count = settings->check_count;
	bool *taken = xcalloc(old_count + 1, sizeof(*taken));

	now = xcalloc(count + 1, sizeof(struct agent_check *));
	for (size_t i = 0; i < count; i++) {
		const struct agent_check key = {.conf = &settings->checks[i]};

		now[i] = take((void **)old, old_count, &key, agent_compare_check, taken);
		if (now[i] == NULL)
			now[i] = agent_check_create(agent, key.conf);
	}
	for (size_t i = 0; i < old_count; i++) {
		if (!taken[i])
			agent_check_destroy(old[i]);
	}
	for (size_t i = 0; i < count; i++)
		adapt_check(now[i], &settings->checks[i]);
	qsort(now, count, sizeof(struct agent_check *), agent_compare_check);
	agent->checks = now;
	agent->check_count = count;
	free(old);
	free(taken);
}

void agent_follow(struct agent *agent)
{
	/* Services first: checks point to them, and touch their old one no more. */
	follow_services(agent);
	follow_checks(agent);
	agent_inventory_follow(agent);
}
