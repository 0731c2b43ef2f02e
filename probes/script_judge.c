// SPDX-License-Identifier: MIT
/* What the end of a script means: exit codes by their sets, signals never anything but critical. */
#include <signal.h>
#include <string.h>

#include "config/arena.h"
#include "config/units.h"
#include "probes/script.h"

static enum probe_status status_of(const struct script_conf *conf, int code)
{
	if (code_set_has(&conf->passing_exit, code))
		return PROBE_PASSING;
	return code_set_has(&conf->warning_exit, code) ? PROBE_WARNING : PROBE_CRITICAL;
}

/* "9 (KILL)", and whether the limit on CPU time can be behind it. free(). */
static char *signal_text(const struct script_conf *conf, int number)
{
	const char *name = sigabbrev_np(number);
	char duration[UNITS_DURATION_SIZE];

	if (name == NULL)
		return xprintf("%d", number);
	if (conf->limits.cpu <= 0 || (number != SIGXCPU && number != SIGKILL))
		return xprintf("%d (%s)", number, name);
	units_print_duration(conf->limits.cpu, duration, sizeof(duration));
	/* KILL comes from many; by this limit only to those that take no notice of XCPU. */
	return xprintf("%d (%s), %sits CPU limit of %s", number, name,
		number == SIGXCPU ? "" : "perhaps ", duration);
}

struct script_verdict script_judge(
	const struct script_conf *conf, enum child_end end, int value, bool said)
{
	struct script_verdict verdict = {PROBE_CRITICAL, REASON_NONE, NULL};

	if (end == CHILD_KILLED) {
		verdict.reason = REASON_SIGNAL;
		verdict.text = signal_text(conf, value);
		return verdict;
	}
	verdict.status = status_of(conf, value);
	if (verdict.status != PROBE_PASSING && !said)
		verdict.text = xprintf("exit code %d, no output", value);
	return verdict;
}
