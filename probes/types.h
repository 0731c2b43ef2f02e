/* SPDX-License-Identifier: MIT */
/* probes/types.h: one row per type, for tables; the types themselves are in probes/probe.h. */
#ifndef PROBES_TYPES_H
#define PROBES_TYPES_H

#include "probes/probe.h"

/* In the order of the reference. */
#define PROBE_TYPES(row) row(http) row(tcp) row(grpc) row(dns) row(redis) row(script)

#define PROBE_TYPE_EXTERN(name) extern const struct probe_type probe_##name;
PROBE_TYPES(PROBE_TYPE_EXTERN)

/* Of each its variant, with a comma: what a table of variants begins with. */
#define PROBE_TYPE_VARIANT(name) &probe_##name.conf,

#endif
