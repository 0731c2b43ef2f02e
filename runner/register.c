// SPDX-License-Identifier: MIT
/* Registration decided and written down: checks, services, and the mark by which we know ours. */
#include "runner/register.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/secret.h"

struct register_plan register_next(const struct register_facts *facts)
{
	bool claimed = facts->claim.kind != PUBLISH_NOTHING;
	struct register_plan plan = {
		.call = REGISTER_CHECK,
		.at = fmax(claimed ? facts->claim.at : 0, facts->not_before),
		.urgent = true,
		.status = claimed ? facts->status : PROBE_CRITICAL,
	};
	const struct register_plan nothing = {.at = PUBLISH_NEVER};

	switch (facts->presence) {
	case PRESENCE_UNKNOWN:
	case PRESENCE_CLASH:
		return nothing;
	case PRESENCE_ABSENT:
		return facts->service_there && (claimed || facts->bare) ? plan : nothing;
	case PRESENCE_OURS:
		break;
	}
	if (!claimed)
		return nothing;
	if (facts->definition_sent) {
		plan.call = REGISTER_UPDATE;
		plan.urgent = facts->claim.kind == PUBLISH_CHANGE;
	}
	return plan;
}

static char *mark_of(const char *instance)
{
	return xprintf("[probity:%s]", instance);
}

bool register_is_marked(const char *notes, const char *instance)
{
	char *mark;
	size_t length, wanted;
	bool marked;

	if (notes == NULL)
		return false;
	mark = mark_of(instance);
	length = strlen(notes);
	wanted = strlen(mark);
	marked = length >= wanted && strcmp(notes + length - wanted, mark) == 0;
	free(mark);
	return marked;
}

const char *register_type(const json_t *checks, const char *id)
{
	const char *type = json_string_value(json_object_get(json_object_get(checks, id), "Type"));

	return type == NULL ? "" : type;
}

enum register_presence register_look(const json_t *checks, const char *id, const char *instance)
{
	const json_t *check = json_object_get(checks, id);
	const char *notes = json_string_value(json_object_get(check, "Notes"));
	const char *type = register_type(checks, id);

	if (check == NULL)
		return PRESENCE_ABSENT;
	/* Agents before 1.7 tell no type: the mark alone decides there. */
	if (*type != '\0' && strcmp(type, "ttl") != 0)
		return PRESENCE_CLASH;
	/* An agent always tells the Notes; an answer without them cannot tell whose it is. */
	return notes == NULL || register_is_marked(notes, instance) ? PRESENCE_OURS
								    : PRESENCE_CLASH;
}

double register_reaps_after(const struct check_conf *check)
{
	const struct service_conf *service = check->node ? NULL : check->service;

	return service == NULL || service->registration == NULL
		? 0
		: service->registration->deregister_critical_service_after;
}

/* As Go reads durations. */
static char *duration_of(double seconds)
{
	double milliseconds = round(seconds * 1000);

	return fmod(milliseconds, 1000) > 0 ? xprintf("%.0fms", milliseconds)
					    : xprintf("%.0fs", milliseconds / 1000);
}

/* What check/register and a check inside service/register have in common. */
static json_t *definition_of(
	const struct check_conf *check, const char *instance, enum probe_status status)
{
	char *mark = mark_of(instance), *ttl = duration_of(check->ttl);
	double after = register_reaps_after(check);
	char *notes = check->notes == NULL || *check->notes == '\0'
		? xstrdup(mark)
		: xprintf("%s %s", check->notes, mark);
	json_t *body = json_pack("{s:s, s:s, s:s, s:s}", "Name", check->name, "Notes", notes, "TTL",
		ttl, "Status", status_name(status));

	if (after > 0) {
		char *text = duration_of(after);

		(void)json_object_set_new(
			body, "DeregisterCriticalServiceAfter", json_string(text));
		free(text);
	}
	free(mark);
	free(ttl);
	free(notes);
	return body;
}

json_t *register_check_body(
	const struct check_conf *check, const char *instance, enum probe_status status)
{
	json_t *body = definition_of(check, instance, status);

	(void)json_object_set_new(body, "ID", json_string(check->id));
	if (!check->node && check->service != NULL)
		(void)json_object_set_new(body, "ServiceID", json_string(check->service->id));
	return body;
}

static json_t *tags_of(const struct register_conf *registration)
{
	json_t *tags = json_array();

	for (size_t i = 0; i < registration->tags.count; i++)
		(void)json_array_append_new(tags, json_string(registration->tags.items[i]));
	return tags;
}

/* A value whose file cannot be read is left out until it can. */
static json_t *meta_of(const struct register_conf *registration)
{
	json_t *meta = json_object();

	for (size_t i = 0; i < registration->meta.count; i++) {
		const struct conf_pair *pair = &registration->meta.items[i];
		char *problem = NULL, *value = secret_read(&pair->value, &problem);

		if (value != NULL)
			(void)json_object_set_new(meta, pair->name, json_string(value));
		secret_free(value);
		free(problem);
	}
	return meta;
}

json_t *register_service_body(const struct service_conf *service)
{
	const struct register_conf *registration = service->registration;
	json_t *body = json_pack("{s:s, s:s, s:o, s:o, s:{s:i, s:i}}", "ID", service->id, "Name",
		registration->name, "Tags", tags_of(registration), "Meta", meta_of(registration),
		"Weights", "Passing", (int)registration->weights.passing, "Warning",
		(int)registration->weights.warning);

	if (registration->address != NULL)
		(void)json_object_set_new(body, "Address", json_string(registration->address));
	if (registration->port != 0)
		(void)json_object_set_new(body, "Port", json_integer(registration->port));
	return body;
}

void register_add_check(json_t *service_body, const struct check_conf *check, const char *instance,
	enum probe_status status)
{
	json_t *checks = json_object_get(service_body, "Checks");
	json_t *body = definition_of(check, instance, status);

	if (checks == NULL) {
		checks = json_array();
		(void)json_object_set_new(service_body, "Checks", checks);
	}
	(void)json_object_set_new(body, "CheckID", json_string(check->id));
	(void)json_array_append_new(checks, body);
}

/* Equal, or an empty one against none: the agent answers null for what it was not told. */
static bool same_value(const json_t *wanted, const json_t *answered)
{
	bool empty = wanted == NULL || (json_is_array(wanted) && json_array_size(wanted) == 0) ||
		(json_is_object(wanted) && json_object_size(wanted) == 0);

	if (!empty)
		return json_equal(wanted, answered) != 0;
	return answered == NULL || json_is_null(answered) ||
		(json_is_array(answered) && json_array_size(answered) == 0) ||
		(json_is_object(answered) && json_object_size(answered) == 0) ||
		(json_is_string(answered) && *json_string_value(answered) == '\0') ||
		(json_is_integer(answered) && json_integer_value(answered) == 0);
}

bool register_service_differs(const struct service_conf *service, const json_t *answer)
{
	/* Ours on the left, the agent's name of it on the right. */
	static const char *const members[][2] = {{"Name", "Service"}, {"Address", "Address"},
		{"Port", "Port"}, {"Tags", "Tags"}, {"Meta", "Meta"}, {"Weights", "Weights"}};
	json_t *body = register_service_body(service);
	bool differs = false;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		differs = differs ||
			!same_value(json_object_get(body, members[i][0]),
				json_object_get(answer, members[i][1]));
	}
	json_decref(body);
	return differs;
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(a == NULL ? "" : a, b == NULL ? "" : b) == 0;
}

static bool same_number(double a, double b)
{
	return a >= b && a <= b;
}

static const char *service_of(const struct check_conf *check)
{
	return check->node || check->service == NULL ? NULL : check->service->id;
}

bool register_same_definition(const struct check_conf *a, const struct check_conf *b)
{
	return same_text(a->name, b->name) && same_text(a->notes, b->notes) &&
		same_text(service_of(a), service_of(b)) && same_number(a->ttl, b->ttl) &&
		same_number(register_reaps_after(a), register_reaps_after(b));
}
