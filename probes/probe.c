// SPDX-License-Identifier: MIT
/* The types by their variant, and one run from start to finish. */
#include "probes/probe_start.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "probes/clock.h"
#include "probes/remains.h"
#include "probes/types.h"

#define TYPE_ROW(name) &probe_##name,

const struct probe_type *const probe_types[] = {PROBE_TYPES(TYPE_ROW) NULL};

struct probe {
	struct probe_setup setup;
	ev_prepare finished; /* never started: carries the event fed by probe_finish */
	bool done; /* probe_finish was called */
	_Alignas(max_align_t) unsigned char run[];
};

const struct probe_type *probe_type_of(const struct conf_variant *variant)
{
	for (size_t i = 0; probe_types[i] != NULL; i++) {
		if (&probe_types[i]->conf == variant)
			return probe_types[i];
	}
	return NULL;
}

static void on_finished(struct ev_loop *loop, ev_prepare *watcher, int events)
{
	struct probe *probe = watcher->data;

	(void)loop;
	(void)events;
	probe->setup.finished(probe->setup.owner);
}

struct probe *probe_start(const struct probe_setup *setup)
{
	struct probe *probe = xcalloc(1, sizeof(*probe) + setup->type->run_size);

	probe->setup = *setup;
	ev_init(&probe->finished, on_finished);
	/* After I/O and child events of the same pass: they may still belong to this run. */
	ev_set_priority(&probe->finished, EV_MINPRI);
	probe->finished.data = probe;
	setup->outcome->started = clock_monotonic();
	setup->outcome->phase_started[PHASE_START] = setup->outcome->started;
	trace_add(setup->outcome->trace, TRACE_PHASE, "%s", phase_name(PHASE_START));
	setup->type->start(probe);
	return probe;
}

bool probe_expire(struct probe *probe)
{
	if (!probe->done && probe->setup.type->expire != NULL)
		probe->setup.type->expire(probe);
	ev_clear_pending(probe->setup.loop, &probe->finished);
	return probe->done;
}

void probe_destroy(struct probe *probe)
{
	if (probe == NULL)
		return;
	ev_clear_pending(probe->setup.loop, &probe->finished);
	probe->setup.type->cancel(probe);
	free(probe);
}

const void *probe_conf(const struct probe *probe)
{
	return probe->setup.conf;
}

void *probe_run(struct probe *probe)
{
	return probe->run;
}

struct probe *probe_of_run(void *run)
{
	return (struct probe *)((unsigned char *)run - offsetof(struct probe, run));
}

struct ev_loop *probe_loop(const struct probe *probe)
{
	return probe->setup.loop;
}

double probe_timeout(const struct probe *probe)
{
	return probe->setup.timeout;
}

struct remains *probe_remains(struct probe *probe)
{
	return probe->setup.remains;
}

void probe_phase(struct probe *probe, enum probe_phase phase)
{
	struct outcome *outcome = probe->setup.outcome;

	if (outcome->phase != phase)
		trace_add(outcome->trace, TRACE_PHASE, "%s", phase_name(phase));
	outcome->phase = phase;
	if (outcome->phase_started[phase] <= 0)
		outcome->phase_started[phase] = clock_monotonic();
}

void probe_seen(struct probe *probe, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	outcome_set_seen(probe->setup.outcome, format, arguments);
	va_end(arguments);
}

void probe_trace(struct probe *probe, enum trace_kind kind, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	trace_addv(probe->setup.outcome->trace, kind, format, arguments);
	va_end(arguments);
}

struct trace *probe_tracer(const struct probe *probe)
{
	return probe->setup.outcome->trace;
}

void probe_output(struct probe *probe, const void *bytes, size_t length)
{
	output_append(&probe->setup.outcome->output, bytes, length);
}

struct measures *probe_values(struct probe *probe)
{
	return &probe->setup.outcome->values;
}

void probe_finish(struct probe *probe, enum probe_status status, enum probe_reason reason,
	const char *format, ...)
{
	struct outcome *outcome = probe->setup.outcome;
	va_list arguments;

	assert(!probe->done);
	if (probe->done)
		return;
	probe->done = true;
	outcome->ended = clock_monotonic();
	outcome->status = status;
	outcome->reason = reason;
	if (format != NULL) {
		va_start(arguments, format);
		outcome_set_detail(outcome, format, arguments);
		va_end(arguments);
	}
	ev_feed_event(probe->setup.loop, &probe->finished, EV_CUSTOM);
}
