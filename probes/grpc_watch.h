/* SPDX-License-Identifier: MIT */
/* probes/grpc_watch.h: the call of Watch that a grpc check keeps open between its runs. */
#ifndef PROBES_GRPC_WATCH_H
#define PROBES_GRPC_WATCH_H

#include "probes/probe_watch.h"

struct probe_watch;

/* As probe_type wants them; NULL where `watch` is not set. */
struct probe_watch *grpc_watch_start(const struct probe_watch_setup *setup);
void grpc_watch_stop(struct probe_watch *watch);

/* s until a watch is opened again that has failed `failures` times in a row, 1 and more. Pure. */
double grpc_watch_delay(unsigned int failures);

#endif
