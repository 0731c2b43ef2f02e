/* SPDX-License-Identifier: MIT */
/* runner/report.h: what the daemon knows of its checks, for status and the control socket. */
#ifndef RUNNER_REPORT_H
#define RUNNER_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "runner/agent.h"

/*
 * One check. Strings are borrowed from the runner for the call. Times are seconds
 * relative to the moment of the call, so that no reader needs our clocks;
 * -1 stands for "never" or "none".
 */
struct check_report {
	const char *id, *name, *service_id; /* service_id NULL for a node check */
	const char *type, *target; /* "http", "http://127.0.0.1/ready" */
	const struct compose_conf *composed; /* of which probes; NULL: it has runs of its own */
	bool decided; /* a threshold was met by this process */
	enum probe_status status; /* what is claimed, after max_status; valid if decided */
	bool stale; /* the claim is "no result within ..." */
	const char *output; /* what is claimed, NULL before */

	/* The last finished run, before thresholds. */
	bool has_result;
	enum probe_status result;
	enum probe_reason reason;
	const char *result_line; /* first line of what it said */
	const struct measures *values; /* numbers that it has seen; valid with has_result */
	double age; /* since its end, s */
	double duration; /* s */
	double phase_seconds[PHASE_COUNT]; /* time spent in each; -1 where not entered */

	/* Schedule. */
	double interval, timeout, ttl;
	double next_run_in;
	bool running;
	double lateness, max_lateness; /* of the last start, of all starts, s */

	/* Counters since start; successes and failures are the current rows. */
	unsigned int successes, failures;
	unsigned long runs, skipped_ticks, void_runs, timeouts, changes;
	unsigned int remains; /* process trees or lookups of earlier runs not yet gone */
	double changed; /* since the claimed status changed, s */

	struct agent_check_view agent; /* its times are seconds ago here, as above */
};

struct daemon_report {
	const char *version, *config, *instance;
	int pid;
	double uptime;
	unsigned long stalls, reloads;
	const char *reload_error; /* of the last reload, NULL if it went well */
	const struct settings *settings; /* for the files that are left out; NULL: none are */
	struct agent_view agent; /* its times are seconds ago here, as above */
};

enum report_list {
	REPORT_CHECKS,
	REPORT_PROBES, /* those that checks are made of */
	REPORT_LISTS,
};

/* What the control socket asks of the runner. */
struct report_source {
	void (*daemon)(void *owner, struct daemon_report *ret_report);
	size_t (*count)(void *owner, enum report_list list);
	void (*check)(
		void *owner, enum report_list list, size_t index, struct check_report *ret_report);
	void *owner;
};

/*
 * The answer to GET /v1/status, piece by piece, so that thousands of checks hold up no pass
 * of the loop and fill no memory:
 * {"version", "config", "instance", "pid", "uptime", ..., "agent": {...}, "checks": [{...}],
 * "probes": [{...}]},
 * keys as the members above, enums as their names, "never" as null.
 */
struct report;

struct report *report_create(const struct report_source *source); /* copied */
void report_destroy(struct report *report); /* accepts NULL */

/*
 * The next bytes, at most size (at least 1). 0 at the end; -1 if the configuration
 * was replaced since the start: then the rows would be of two lists.
 */
ssize_t report_read(struct report *report, char *bytes, size_t size);

#endif
