/* SPDX-License-Identifier: MIT */
/* probes/trace.h: what a run did, line by line, for `probity probe -v`. */
#ifndef PROBES_TRACE_H
#define PROBES_TRACE_H

#include <stdarg.h>
#include <stddef.h>

enum trace_kind {
	TRACE_PHASE, /* the run enters one; text is its name */
	TRACE_ADDRESS, /* a name looked up, an address tried */
	TRACE_CERTIFICATE, /* the server's chain, in one line */
	TRACE_REQUEST, /* what was sent */
	TRACE_ANSWER, /* what came back */
	TRACE_REDIRECT, /* where it leads, followed or refused */
	TRACE_STEP, /* one step of a conversation */
	TRACE_ASSERTION, /* what an assertion looked at, and what it found */
	TRACE_LIMIT, /* a value beside its limits */
	TRACE_KINDS,
};

struct trace_line {
	double at; /* monotonic */
	enum trace_kind kind;
	char *text; /* one line of valid UTF-8, at most TRACE_LINE bytes */
};

/* A long conversation has some ten steps, a name at most ATTEMPTS_MOST addresses. */
#define TRACE_LINES 100
#define TRACE_LINE 1024

struct trace {
	struct trace_line lines[TRACE_LINES];
	size_t count;
	size_t left_out; /* what came when all lines were taken */
};

struct trace *trace_create(void);
void trace_destroy(struct trace *trace); /* accepts NULL */

/* Adds a line; with a trace of NULL it does nothing. No secrets: people paste traces. */
void trace_add(struct trace *trace, enum trace_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void trace_addv(struct trace *trace, enum trace_kind kind, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));

const char *trace_kind_name(enum trace_kind kind);

#endif
