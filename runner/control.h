/* SPDX-License-Identifier: MIT */
/* runner/control.h: the control socket: HTTP over a unix socket in the runtime directory. */
#ifndef RUNNER_CONTROL_H
#define RUNNER_CONTROL_H

#include <ev.h>

#include "runner/report.h"

struct control;

/*
 * Takes the runtime directory for this process and answers GET /v1/status on
 * <runtime_dir>/control.sock (control_socket.h). NULL on failure with *ret_error one
 * line for the log (free()). source is copied; what it borrows outlives the control.
 */
struct control *control_create(struct ev_loop *loop, const char *runtime_dir,
	const struct report_source *source, char **ret_error);

/* Closes and unlinks; accepts NULL. */
void control_destroy(struct control *control);

#endif
