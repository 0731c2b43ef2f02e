/* SPDX-License-Identifier: MIT */
/* probes/probe.h: what a probe type does, and what one run of it reports. */
#ifndef PROBES_PROBE_H
#define PROBES_PROBE_H

#include <ev.h>
#include <stdarg.h>

#include "config/field.h"
#include "probes/outcome.h"

struct probe;
struct probe_watch; /* a type's own; see probes/probe_watch.h */
struct probe_watch_setup;
struct remains;

/*
 * One kind of probe. probes/<name>.c defines one of these, const, and keeps
 * everything else static. The table in probes/types.h lists them.
 */
struct probe_type {
	struct conf_variant conf; /* the key that names the type, and its rows */
	size_t run_size; /* private state of a run, zeroed before start */
	double longest_timeout; /* default timeout: the smaller of this and the interval, s */

	/* What is probed, one line for people, without secrets: "http://127.0.0.1/". free(). */
	char *(*target)(const void *conf);

	/*
	 * How long what a run leaves behind may live after its deadline, s; part of how
	 * long a result stays fresh. NULL: nothing is left behind.
	 */
	double (*kill_grace)(const void *conf);

	/* Begins one run. Never blocks. Leads to one probe_finish(). */
	void (*start)(struct probe *probe);

	/*
	 * Optional: the deadline has come. Finishes the run if its verdict has fallen
	 * already and only its end was waited for (a reaped script whose pipe is still
	 * open); else does nothing.
	 */
	void (*expire)(struct probe *probe);

	/*
	 * Drops the run: watchers, children, descriptors. No finish follows. Called
	 * at the deadline, at shutdown, and also after a finish, so that a type has
	 * one place that lets go; it must be idempotent on a finished run. What
	 * cannot end at once goes to the module that owns it (child, resolve).
	 */
	void (*cancel)(struct probe *probe);

	/*
	 * Optional, both: watches the target as long as the check lives, to wake it. Never
	 * blocks; NULL where conf asks for none. It has no result: what goes wrong it gets over
	 * by itself, and the runs go on as planned.
	 */
	struct probe_watch *(*watch_start)(const struct probe_watch_setup *setup);
	void (*watch_stop)(struct probe_watch *watch); /* frees; accepts NULL */
};

/* All types, NULL-terminated, and the one that a variant is of; NULL for others. */
extern const struct probe_type *const probe_types[];
const struct probe_type *probe_type_of(const struct conf_variant *variant);

/* For probe types, during a run. */

const void *probe_conf(const struct probe *probe); /* borrowed; outlives the run */
void *probe_run(struct probe *probe); /* borrowed, run_size bytes */
struct probe *probe_of_run(void *run); /* the way back */
struct ev_loop *probe_loop(const struct probe *probe);
double probe_timeout(const struct probe *probe); /* of the whole run, s; for sharing it out */
struct remains *probe_remains(struct probe *probe);

void probe_phase(struct probe *probe, enum probe_phase phase);
void probe_seen(struct probe *probe, const char *format, ...) /* one stable line, replaced */
	__attribute__((format(printf, 2, 3)));
/* One line about one thing that happened, for those who asked (probity probe -v). */
void probe_trace(struct probe *probe, enum trace_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* For modules below a probe, which do not know it (dial, match); NULL where nobody asked. */
struct trace *probe_tracer(const struct probe *probe);

void probe_output(struct probe *probe, const void *bytes, size_t length);
struct measures *probe_values(struct probe *probe); /* the run's; to be added to */

/*
 * Records the outcome of the run; the first call counts and later ones are
 * bugs (assert). The runner acts on it once the current callback has returned,
 * so a probe may call this from start(). A probe that could not do its work
 * reports PROBE_CRITICAL; that is a result, not an error. format may be NULL.
 */
void probe_finish(struct probe *probe, enum probe_status status, enum probe_reason reason,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
