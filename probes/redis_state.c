// SPDX-License-Identifier: MIT
/* A server's own words on its role, its lag and the masters that it watches. */
#include "probes/redis_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "config/units.h"

bool redis_field_is(const struct redis_field *field, const char *text)
{
	return field->length == strlen(text) && memcmp(field->text, text, field->length) == 0;
}

bool redis_info_find(
	const struct redis_reply *reply, const char *name, struct redis_field *ret_field)
{
	size_t wanted = strlen(name);
	const char *line = reply->text, *end = line == NULL ? NULL : line + reply->length, *stop;

	if (reply->type != REDIS_STRING)
		return false;
	for (; line < end; line = stop + 1) {
		stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop == NULL ? end : stop;
		if ((size_t)(stop - line) <= wanted || memcmp(line, name, wanted) != 0 ||
			line[wanted] != ':')
			continue;
		ret_field->text = line + wanted + 1;
		ret_field->length = (size_t)(stop - ret_field->text);
		if (ret_field->length > 0 && stop[-1] == '\r')
			ret_field->length--;
		return true;
	}
	return false;
}

bool redis_pairs_find(
	const struct redis_reply *reply, const char *name, struct redis_field *ret_field)
{
	for (size_t i = 0; i + 1 < reply->count; i += 2) {
		const struct redis_reply *key = reply->elements[i], *value = reply->elements[i + 1];

		if (key->type != REDIS_STRING || value->type != REDIS_STRING ||
			strcmp(key->text, name) != 0)
			continue;
		*ret_field = (struct redis_field){.text = value->text, .length = value->length};
		return true;
	}
	return false;
}

struct redis_verdict redis_bad(enum probe_reason reason, char *take_text)
{
	return (struct redis_verdict){
		.status = PROBE_CRITICAL, .reason = reason, .text = take_text};
}

/* Whole seconds, from 0; NAN for anything else. */
static double seconds_of(const struct redis_field *field)
{
	double seconds = 0;

	/* Nine digits are 31 years. */
	if (field->length == 0 || field->length > 9)
		return NAN;
	for (size_t i = 0; i < field->length; i++) {
		if (field->text[i] < '0' || field->text[i] > '9')
			return NAN;
		seconds = seconds * 10 + (field->text[i] - '0');
	}
	return seconds;
}

/* "10.0.0.1:6379" of the fields of a host and a port; free(). */
static char *place_of(const struct redis_field *host, const struct redis_field *port)
{
	return xprintf(memchr(host->text, ':', host->length) == NULL ? "%.*s:%.*s" : "[%.*s]:%.*s",
		(int)host->length, host->text, (int)port->length, port->text);
}

static char *master_of(const struct redis_reply *reply)
{
	struct redis_field host, port;

	if (!redis_info_find(reply, "master_host", &host) ||
		!redis_info_find(reply, "master_port", &port))
		return xstrdup("an unknown master");
	return place_of(&host, &port);
}

/* The link must stand: without it the last exchange only grows older. */
static struct redis_verdict judge_link(const struct redis_reply *reply, const char *master)
{
	struct redis_field link, syncing;

	if (redis_info_find(reply, "master_link_status", &link) && redis_field_is(&link, "up"))
		return (struct redis_verdict){.status = PROBE_PASSING};
	return redis_bad(REASON_MATCH,
		xprintf("replica without a link to its master %s%s", master,
			redis_info_find(reply, "master_sync_in_progress", &syncing) &&
					redis_field_is(&syncing, "1")
				? ", synchronising"
				: ""));
}

static struct redis_verdict judge_lag(const struct redis_conf *conf,
	const struct redis_reply *reply, const char *master, struct measures *values,
	struct trace *trace)
{
	struct redis_verdict verdict = judge_link(reply, master);
	struct redis_field age = {.length = 0};
	char duration[UNITS_DURATION_SIZE];
	double lag, limit;

	if (verdict.status != PROBE_PASSING)
		return verdict;
	lag = redis_info_find(reply, "master_last_io_seconds_ago", &age) ? seconds_of(&age) : NAN;
	if (isnan(lag))
		return redis_bad(REASON_PROTOCOL,
			xstrdup("INFO replication: the reply has no master_last_io_seconds_ago"));
	measures_add(values, "lag", lag, "s");
	limit = time_limits_broken(&conf->max_lag, lag, &verdict.status);
	trace_add(trace, TRACE_LIMIT, "lag = %.0fs: %s", lag, status_name(verdict.status));
	verdict.reason = REASON_MATCH;
	/* The limit, and not the lag, which would differ each time. */
	units_print_duration(limit, duration, sizeof(duration));
	verdict.text = limit <= 0 ? xprintf("replica of %s", master)
				  : xprintf("replica of %s, last exchange with it more than %s ago",
					    master, duration);
	return verdict;
}

static struct redis_verdict judge_replica(const struct redis_conf *conf,
	const struct redis_reply *reply, struct measures *values, struct trace *trace)
{
	char *master = master_of(reply);
	struct redis_verdict verdict;

	if (conf->role == REDIS_ROLE_MASTER)
		verdict = redis_bad(
			REASON_MATCH, xprintf("role is replica (of %s), not master", master));
	else if (redis_wants_lag(conf))
		verdict = judge_lag(conf, reply, master, values, trace);
	else
		verdict = (struct redis_verdict){
			.status = PROBE_PASSING, .text = xprintf("replica of %s", master)};
	free(master);
	return verdict;
}

struct redis_verdict redis_judge_replication(const struct redis_conf *conf,
	const struct redis_step *step, const struct redis_reply *reply, struct measures *values,
	struct trace *trace)
{
	struct redis_field role;

	if (!redis_info_find(reply, "role", &role))
		return redis_bad(REASON_PROTOCOL,
			xprintf("%s: the reply has no role; is this a Sentinel?", step->label));
	trace_add(trace, TRACE_ASSERTION, "role:%.*s", (int)role.length, role.text);
	if (redis_field_is(&role, "slave"))
		return judge_replica(conf, reply, values, trace);
	if (!redis_field_is(&role, "master"))
		return redis_bad(REASON_PROTOCOL,
			xprintf("%s: role is %.*s", step->label, (int)role.length, role.text));
	if (conf->role == REDIS_ROLE_REPLICA)
		return redis_bad(REASON_MATCH, xstrdup("role is master, not replica"));
	return (struct redis_verdict){.status = PROBE_PASSING, .text = xstrdup("master")};
}

/* A word in "master,s_down,o_down". */
static bool has_flag(const struct redis_field *flags, const char *flag)
{
	size_t wanted = strlen(flag), start = 0;

	for (size_t i = 0; i <= flags->length; i++) {
		if (i < flags->length && flags->text[i] != ',')
			continue;
		if (i - start == wanted && memcmp(flags->text + start, flag, wanted) == 0)
			return true;
		start = i + 1;
	}
	return false;
}

struct redis_verdict redis_judge_sentinel(const struct redis_conf *conf,
	const struct redis_step *step, const struct redis_reply *reply)
{
	struct redis_field flags, ip, port;
	char *place;
	struct redis_verdict verdict;

	if (!redis_pairs_find(reply, "flags", &flags) || !redis_pairs_find(reply, "ip", &ip) ||
		!redis_pairs_find(reply, "port", &port))
		return redis_bad(REASON_PROTOCOL,
			xprintf("%s: the reply has no flags, ip and port", step->label));
	place = place_of(&ip, &port);
	if (has_flag(&flags, "s_down") || has_flag(&flags, "o_down") ||
		has_flag(&flags, "disconnected"))
		verdict = redis_bad(REASON_MATCH,
			xprintf("master %s at %s is not reachable: %.*s", conf->sentinel, place,
				(int)flags.length, flags.text));
	else if (!has_flag(&flags, "master"))
		verdict = redis_bad(REASON_PROTOCOL,
			xprintf("%s: flags are %.*s", step->label, (int)flags.length, flags.text));
	else
		verdict = (struct redis_verdict){.status = PROBE_PASSING,
			.text = xprintf("master %s is %s", conf->sentinel, place)};
	free(place);
	return verdict;
}
