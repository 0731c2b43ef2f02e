/* SPDX-License-Identifier: MIT */
/* runner/runner.h: the daemon: loop, settings, checks, agent; reload and shutdown. */
#ifndef RUNNER_RUNNER_H
#define RUNNER_RUNNER_H

#include "runner/check.h"
#include "runner/control.h"
#include "runner/id_lock.h"
#include "runner/notify.h"
#include "runner/stall.h"

struct runner_options {
	const char *config; /* path of the file */
	const char *runtime_dir; /* made if missing; socket and state file live there */
};

/* Shared by runner*.c; everything else goes through runner_main. */
struct runner {
	struct runner_options options;
	struct check_world world;
	struct settings *settings;
	struct check **checks; /* in the order of settings_at() */
	size_t check_count;
	struct control *control;
	struct id_lock *ids; /* what nobody else on this host publishes */
	struct stall stall;
	ev_signal hangup, terminate, interrupt;
	ev_timer save; /* writes the state file, at most once a second */
	bool stopping;
	bool save_failed; /* and it was said */
	char host[256];
	double started; /* boot time */
	unsigned long reloads;
	char *reload_error; /* of the last reload, NULL if it went well */

	/* runner_notify.c */
	struct notify notify;
	ev_timer pulse;
	bool ready_owed; /* to be said at the next pulse */
	char *notified; /* the words that the service manager has, NULL for none */
};

/* Runs until SIGTERM or SIGINT. Returns the exit code; what is wrong is on stderr. */
int runner_main(const struct runner_options *options);

/* runner.c: as id_lock_take(); what keeps ids from being locked is logged. */
bool runner_lock_ids(
	struct runner *runner, const struct settings *settings, struct conf_diag *diag);

/* runner_reload.c: re-reads the configuration. A bad one changes nothing and says why. */
void runner_reload(struct runner *runner);

/* runner_reload.c: makes the checks of the first configuration, seeded by the state file. */
void runner_fill(struct runner *runner);

/* runner_reload.c: a line for each file that is left out. */
void runner_log_left_out(const struct settings *settings);

/* runner_report.c: the source for the control socket; borrowed pointers into runner. */
struct report_source runner_report_source(struct runner *runner);

/* runner_notify.c: tells the service manager, if there is one, from the loop. */
void runner_notify_start(struct runner *runner);
void runner_notify_stop(struct runner *runner);
void runner_notify_reloading(struct runner *runner);
void runner_notify_reloaded(struct runner *runner);
void runner_notify_stopping(struct runner *runner);

#endif
