// SPDX-License-Identifier: MIT
/* The daemon's side of status. */
#include "runner/runner.h"

#include <unistd.h>

#include "probes/clock.h"

static void report_daemon(void *owner, struct daemon_report *ret_report)
{
	const struct runner *runner = owner;
	double now = clock_boot();

	*ret_report = (struct daemon_report){
		.version = PROBITY_VERSION,
		.config = runner->settings->path,
		.instance = runner->settings->instance,
		.pid = (int)getpid(),
		.uptime = now - runner->started,
		.stalls = runner->stall.count,
		.reloads = runner->reloads,
		.reload_error = runner->reload_error,
		.settings = runner->settings,
	};
	agent_view(runner->world.agent, &ret_report->agent);
	ret_report->agent.changed_at =
		ret_report->agent.changed_at > 0 ? now - ret_report->agent.changed_at : -1;
}

/* The shared probes stand behind the checks. */
static size_t report_count(void *owner, enum report_list list)
{
	const struct runner *runner = owner;

	return list == REPORT_CHECKS ? runner->settings->check_count
				     : runner->settings->probe_count;
}

static void report_check(
	void *owner, enum report_list list, size_t index, struct check_report *ret_report)
{
	const struct runner *runner = owner;
	size_t first = list == REPORT_CHECKS ? 0 : runner->settings->check_count;

	check_report(runner->checks[first + index], ret_report);
}

struct report_source runner_report_source(struct runner *runner)
{
	return (struct report_source){
		.daemon = report_daemon,
		.count = report_count,
		.check = report_check,
		.owner = runner,
	};
}
