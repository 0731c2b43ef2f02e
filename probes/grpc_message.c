// SPDX-License-Identifier: MIT
/* Messages of grpc.health.v1: their heads, and the little of protobuf that they are made of. */
#include "probes/grpc_message.h"

#include <stdint.h>
#include <string.h>

#include "config/arena.h"

/* protobuf.dev/programming-guides/encoding: ten groups of seven bits hold any number. */
#define VARINT_MOST 10

#define FIELD_SERVICE 1 /* HealthCheckRequest.service */
#define FIELD_STATUS 1 /* HealthCheckResponse.status */

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_FIXED32 = 5,
};

char *grpc_request_encode(const char *service, size_t *ret_length)
{
	size_t length = strlen(service), left = length;
	unsigned char *bytes = xcalloc(GRPC_HEAD + 1 + VARINT_MOST + length, 1);
	unsigned char *end = bytes + GRPC_HEAD;
	size_t message;

	/* proto3: a text that is empty is left out. */
	if (length > 0) {
		*end++ = FIELD_SERVICE << 3 | WIRE_BYTES;
		for (; left > 0x7f; left >>= 7)
			*end++ = (unsigned char)(left & 0x7f) | 0x80;
		*end++ = (unsigned char)left;
		for (size_t i = 0; i < length; i++)
			*end++ = (unsigned char)service[i];
	}
	message = (size_t)(end - bytes) - GRPC_HEAD;
	for (int i = 0; i < 4; i++)
		bytes[1 + i] = (unsigned char)(message >> (24 - 8 * i));
	*ret_length = GRPC_HEAD + message;
	return (char *)bytes;
}

static void end_message(struct grpc_stream *stream)
{
	stream->head_taken = stream->taken = 0;
	if (stream->count + 1 > stream->count)
		stream->count++;
	if (stream->message != NULL)
		stream->message(stream->owner, stream->bytes, stream->length);
}

/* The head is there: what it says of its message. */
static enum grpc_fault read_head(struct grpc_stream *stream)
{
	stream->length = 0;
	for (int i = 1; i < GRPC_HEAD; i++)
		stream->length = stream->length << 8 | stream->head[i];
	if (stream->length > GRPC_MOST)
		return GRPC_TOO_LONG;
	if (stream->length == 0)
		end_message(stream);
	return GRPC_FINE;
}

static enum grpc_fault take_head(struct grpc_stream *stream, unsigned char byte)
{
	if (stream->most > 0 && stream->count >= stream->most)
		return GRPC_TOO_MANY;
	if (stream->head_taken == 0 && byte != 0)
		return byte == 1 ? GRPC_COMPRESSED : GRPC_FLAG;
	stream->head[stream->head_taken++] = byte;
	return stream->head_taken == GRPC_HEAD ? read_head(stream) : GRPC_FINE;
}

bool grpc_stream_take(struct grpc_stream *stream, const void *bytes, size_t length)
{
	const unsigned char *at = bytes, *end = at + length;

	while (at < end && stream->fault == GRPC_FINE) {
		size_t here;

		if (stream->head_taken < GRPC_HEAD) {
			stream->fault = take_head(stream, *at++);
			continue;
		}
		here = stream->length - stream->taken;
		if (here > (size_t)(end - at))
			here = (size_t)(end - at);
		memcpy(stream->bytes + stream->taken, at, here);
		stream->taken += here;
		at += here;
		if (stream->taken == stream->length)
			end_message(stream);
	}
	return stream->fault == GRPC_FINE;
}

bool grpc_stream_is_open(const struct grpc_stream *stream)
{
	return stream->head_taken > 0;
}

/* Where the reader of a message stands. */
struct reader {
	const unsigned char *at, *end;
};

static bool read_varint(struct reader *reader, uint64_t *ret_number)
{
	uint64_t number = 0;

	for (unsigned int i = 0; i < VARINT_MOST && reader->at < reader->end; i++) {
		unsigned char byte = *reader->at++;

		number |= (uint64_t)(byte & 0x7f) << (7 * i);
		if ((byte & 0x80) == 0) {
			*ret_number = number;
			return true;
		}
	}
	return false;
}

static bool skip(struct reader *reader, uint64_t length)
{
	if (length > (size_t)(reader->end - reader->at))
		return false;
	reader->at += length;
	return true;
}

/* A field that is not ours, or not as ours is written; readers have to pass over those. */
static bool skip_field(struct reader *reader, uint64_t key)
{
	uint64_t number;

	switch (key & 7) {
	case WIRE_VARINT:
		return read_varint(reader, &number);
	case WIRE_FIXED64:
		return skip(reader, 8);
	case WIRE_BYTES:
		return read_varint(reader, &number) && skip(reader, number);
	case WIRE_FIXED32:
		return skip(reader, 4);
	default: /* Groups, which proto3 does not have, and what is not defined. */
		return false;
	}
}

bool grpc_health_decode(const unsigned char *bytes, size_t length, int *ret_serving)
{
	struct reader reader = {bytes, bytes + length};
	uint64_t status = GRPC_UNKNOWN;

	while (reader.at < reader.end) {
		uint64_t key;
		bool fine;

		/* Field numbers have 29 bits and begin with 1. */
		if (!read_varint(&reader, &key) || key >> 3 == 0 || key > UINT32_MAX)
			return false;
		if (key == (FIELD_STATUS << 3 | WIRE_VARINT))
			fine = read_varint(&reader, &status);
		else
			fine = skip_field(&reader, key);
		if (!fine)
			return false;
	}
	/* An enum has 32 bits, what is above is cut off. */
	*ret_serving = (int)(int32_t)(uint32_t)status;
	return true;
}

const char *grpc_serving_name(int serving)
{
	static const char *const names[] = {
		[GRPC_UNKNOWN] = "UNKNOWN",
		[GRPC_SERVING] = "SERVING",
		[GRPC_NOT_SERVING] = "NOT_SERVING",
		[GRPC_SERVICE_UNKNOWN] = "SERVICE_UNKNOWN",
	};

	if (serving < 0 || (size_t)serving >= sizeof(names) / sizeof(*names))
		return NULL;
	return names[serving];
}
