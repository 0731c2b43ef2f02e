/* SPDX-License-Identifier: MIT */
/* probes/outcome.h: what one run saw; owned by the runner, filled by the probe as it goes. */
#ifndef PROBES_OUTCOME_H
#define PROBES_OUTCOME_H

#include <stdarg.h>
#include <stdbool.h>

#include "probes/measures.h"
#include "probes/output.h"
#include "probes/trace.h"

enum probe_status {
	PROBE_PASSING,
	PROBE_WARNING,
	PROBE_CRITICAL,
};

/* Phases in the order in which a run may enter them. */
enum probe_phase {
	PHASE_START, /* everything before the first of the others */
	PHASE_RESOLVE, /* name lookup */
	PHASE_CONNECT, /* all addresses */
	PHASE_TLS, /* handshake */
	PHASE_SEND, /* request or command sent, nothing back yet */
	PHASE_RECEIVE, /* first byte seen: body, greeting, rows */
	PHASE_RUN, /* a child runs */
	PHASE_COUNT,
};

/*
 * Why a run ended as it did. The text of each stands in one table in outcome.c, so
 * that a message cannot be improvised; a detail may follow it after ": ".
 */
enum probe_reason {
	REASON_NONE, /* "": the detail, or the output alone, says it */
	REASON_TIMEOUT, /* "timed out": set by the runner only */
	REASON_SIGNAL, /* "killed by signal" */
	REASON_START, /* "cannot start" */
	REASON_LOCAL_START, /* "local: cannot start": EAGAIN, ENOMEM, EMFILE, ENFILE */
	REASON_UNSAFE, /* "unsafe permissions" */
	REASON_RESOLVE, /* "cannot resolve" */
	REASON_CONNECT, /* "cannot connect" */
	REASON_TLS, /* "TLS failed" */
	REASON_EXPIRY, /* "ends too soon": a certificate */
	REASON_PROTOCOL, /* "protocol error" */
	REASON_CUT, /* "answer cut short" */
	REASON_LOGIN, /* "cannot log in" */
	REASON_QUERY, /* "query failed" */
	REASON_REFUSED, /* "refused by the server": it says why itself */
	REASON_STATUS, /* "unexpected status" */
	REASON_MATCH, /* "assertion failed" */
	REASON_ENGINE, /* "cannot decide": a regex limit, a body past the window */
	REASON_REDIRECT, /* "redirect refused" */
	REASON_SECRET, /* "cannot read secret" */
	REASON_LOCAL, /* "local": no descriptor, no memory for a socket */
	REASON_UNKILLABLE, /* "previous run cannot be killed": set by the runner only */
	REASON_COUNT,
};

struct outcome {
	enum probe_status status;
	enum probe_reason reason;
	char *detail; /* after the reason's text, or NULL; owned */
	char *seen; /* what the run has seen so far, one stable line, or NULL; owned */
	struct output output;
	struct measures values; /* numbers that it has seen */
	struct trace *trace; /* what the run did; NULL where nobody asked; owned */
	enum probe_phase phase; /* the current one */
	double started, ended; /* monotonic; ended is 0 while it runs */
	double phase_started[PHASE_COUNT]; /* monotonic; 0 where never entered */
};

void outcome_clear(struct outcome *outcome); /* frees what it owns; all zero again */

/* Seconds that the run spent in a phase; -1 where it never came there. The run has ended. */
double outcome_phase_seconds(const struct outcome *outcome, enum probe_phase phase);

/* Replace the detail, the seen line. Both are cleaned to one line of valid UTF-8. */
void outcome_set_detail(struct outcome *outcome, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));
void outcome_set_seen(struct outcome *outcome, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

const char *reason_text(enum probe_reason reason);

/* True where the fault is this machine's, not the target's (see "A local failure" in the README).
 */
bool reason_is_local(enum probe_reason reason);

/* The line of ours: reason, detail and, after a timeout, what was seen. "" for none. free(). */
char *outcome_line(const struct outcome *outcome);

const char *status_name(enum probe_status status); /* "passing", "warning", "critical" */
const char *phase_name(enum probe_phase phase);

#endif
