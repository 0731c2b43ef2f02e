/* SPDX-License-Identifier: MIT */
/* probes/grpc_answer.h: one answer of a gRPC server as it comes in, and what it means. Pure. */
#ifndef PROBES_GRPC_ANSWER_H
#define PROBES_GRPC_ANSWER_H

#include "probes/grpc_message.h"
#include "probes/outcome.h"

enum grpc_code { /* those that are spoken of; grpc.github.io/grpc/core/md_doc_statuscodes.html */
	GRPC_OK = 0,
	GRPC_NOT_FOUND = 5,
	GRPC_UNIMPLEMENTED = 12,
};

/* A struct of zeroes, but for stream.most, is an empty one. */
struct grpc_answer {
	long status; /* of HTTP; 0 before */
	bool head_done;
	bool head_too_long;
	char *type; /* content-type as sent; owned, NULL: none */
	char *code; /* grpc-status as sent, in the headers or in the trailers; owned, NULL: none */
	char *message; /* grpc-message, decoded; owned, NULL: none */
	bool code_twice;
	struct grpc_stream stream;
	bool readable; /* the last message was a HealthCheckResponse */
	int serving; /* that it held */
	size_t head_bytes;
};

struct grpc_verdict {
	enum probe_status status;
	enum probe_reason reason;
	char *text; /* the detail; free() */
};

/*
 * A line of headers or trailers, as libcurl hands them over; a piece of the body. False ends the
 * transfer: the answer is faulty whatever follows.
 */
bool grpc_answer_line(struct grpc_answer *answer, const char *line, size_t length);
bool grpc_answer_body(struct grpc_answer *answer, const void *bytes, size_t length);
void grpc_answer_finish(struct grpc_answer *answer); /* frees; empty again */

/* grpc-status as a number; -1 where there is none, or it is not one. */
long grpc_answer_code(const struct grpc_answer *answer);

/* True for what is faulty by itself, so that it counts however the transfer ended. */
bool grpc_answer_is_broken(const struct grpc_answer *answer);

/* An answer to a Check whose transfer has ended well, or that is broken. */
struct grpc_verdict grpc_answer_judge(const struct grpc_answer *answer, const char *service);

/* How far an unfinished answer is; static text, NULL while there is none. */
const char *grpc_answer_progress(const struct grpc_answer *answer);

/* In place: %XX is a byte; what is no escape stays (the specification asks for that). */
void grpc_percent_decode(char *text);

#endif
