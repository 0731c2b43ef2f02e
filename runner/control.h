/* SPDX-License-Identifier: MIT */
/* runner/control.h: the control socket: HTTP over a unix socket in the runtime directory. */
#ifndef RUNNER_CONTROL_H
#define RUNNER_CONTROL_H

#include <ev.h>

#include "runner/report.h"

struct control;

/*
 * Listens on <runtime_dir>/control.sock, mode 0660. A stale socket is replaced; a
 * live one is an error that says who holds it. NULL on failure with *ret_error
 * one line for the log (free()). source is copied.
 */
struct control *control_create(struct ev_loop *loop, const char *runtime_dir,
	const struct report_source *source, char **ret_error);

/* Closes and unlinks; accepts NULL. */
void control_destroy(struct control *control);

#endif
