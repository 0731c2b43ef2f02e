/* SPDX-License-Identifier: MIT */
/* probes/grpc_message.h: messages of grpc.health.v1 as they go over the wire. Pure. */
#ifndef PROBES_GRPC_MESSAGE_H
#define PROBES_GRPC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Before each message: a flag for compression, and its length in four bytes. */
#define GRPC_HEAD 5

/* Bytes of one message. A HealthCheckResponse has two; room for what servers may add. */
#define GRPC_MOST ((size_t)4096)

/* A HealthCheckRequest with its head; *ret_length bytes. free(). */
char *grpc_request_encode(const char *service, size_t *ret_length);

enum grpc_fault {
	GRPC_FINE,
	GRPC_FLAG, /* the first byte is no flag: this is not gRPC */
	GRPC_COMPRESSED, /* which was not offered */
	GRPC_TOO_LONG, /* over GRPC_MOST */
	GRPC_TOO_MANY, /* something follows the last message that may come */
};

/* Messages out of pieces of any size. A struct of zeroes, but for most, is a fresh one. */
struct grpc_stream {
	unsigned int most; /* messages that may come; 0: any number */
	void (*message)(void *owner, const unsigned char *bytes, size_t length); /* a whole one */
	void *owner;

	unsigned int count; /* whole ones so far; stays at its largest value */
	enum grpc_fault fault; /* nothing is taken after one */
	size_t length; /* that the head of this message says */

	/* Ours. */
	unsigned char head[GRPC_HEAD], bytes[GRPC_MOST];
	size_t head_taken, taken;
};

/* Takes a piece; false once there is a fault. */
bool grpc_stream_take(struct grpc_stream *stream, const void *bytes, size_t length);

/* True where a message has begun and not ended. */
bool grpc_stream_is_open(const struct grpc_stream *stream);

enum grpc_serving { /* HealthCheckResponse.ServingStatus */
	GRPC_UNKNOWN,
	GRPC_SERVING,
	GRPC_NOT_SERVING,
	GRPC_SERVICE_UNKNOWN,
};

/* Reads a HealthCheckResponse; an enum of proto3 may hold any number. False: malformed. */
bool grpc_health_decode(const unsigned char *bytes, size_t length, int *ret_serving);

/* "NOT_SERVING"; NULL for a number without a name. */
const char *grpc_serving_name(int serving);

#endif
