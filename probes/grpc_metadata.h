/* SPDX-License-Identifier: MIT */
/* probes/grpc_metadata.h: metadata of a call: which may be given, how it is sent. Pure. */
#ifndef PROBES_GRPC_METADATA_H
#define PROBES_GRPC_METADATA_H

#include <stdbool.h>
#include <stddef.h>

/* Why a name cannot be given, as "... has capitals"; static text, NULL if it can be. */
const char *grpc_metadata_refusal(const char *name);

/* The names that end in -bin hold any bytes; the others printable ASCII only. */
bool grpc_metadata_is_binary(const char *name);
bool grpc_metadata_is_text(const char *value);

/*
 * A header line as CURLOPT_HTTPHEADER(3) wants it, binary values encoded. To be wiped:
 * secret_free().
 */
char *grpc_metadata_line(const char *name, const char *value);

#endif
