/* SPDX-License-Identifier: MIT */
/* probes/stream_text.h: bytes to send, written as text with escapes. */
#ifndef PROBES_STREAM_TEXT_H
#define PROBES_STREAM_TEXT_H

#include "config/field.h"

struct stream_text {
	const char *bytes; /* NULL if absent; may hold NUL bytes */
	size_t length;
	const char *shown; /* as written; what was expanded is *** */
};

/* A row kind: bytes as pairs of hexadecimal digits, blanks between them: 41 4d 51 50. */
extern const struct conf_kind stream_hex;
#define STREAM_HEX(T, member, ...) CONF_ROW(T, member, struct stream_text, stream_hex, __VA_ARGS__)

/* A row kind: \n, \r, \t, \\ and \xHH are escapes, any other backslash is an error. */
extern const struct conf_kind stream_escaped;
#define STREAM_TEXT(T, member, ...)                                                                \
	CONF_ROW(T, member, struct stream_text, stream_escaped, __VA_ARGS__)

#endif
