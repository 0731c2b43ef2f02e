// SPDX-License-Identifier: MIT
/* Answers of gRPC servers: headers, messages, trailers, and the verdict on them. */
#include "probes/grpc_answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/arena.h"

/* All headers and trailers, bytes. gRPC's own libraries take 8 to 16 KiB. */
#define MOST_HEAD ((size_t)64 * 1024)

#define CODE_DIGITS 9 /* that a long holds everywhere */

static const char *const code_names[] = {"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT",
	"DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
	"INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"};

static int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

void grpc_percent_decode(char *text)
{
	char *to = text;

	for (; *text != '\0'; text++) {
		int high = *text == '%' ? hex_digit(text[1]) : -1;
		int low = high < 0 ? -1 : hex_digit(text[2]);
		int byte = low < 0 ? 0 : high * 16 + low;

		/* A NUL would end the text: it stays an escape. */
		*to = *text;
		if (byte != 0) {
			*to = (char)byte;
			text += 2;
		}
		to++;
	}
	*to = '\0';
}

/* The code of a status line, "HTTP/2 200"; 0 if it is none. */
static long read_status(const char *line, size_t length)
{
	const char *at = memchr(line, ' ', length);
	long status = 0;

	if (at == NULL || length - (size_t)(at - line) < 4)
		return 0;
	for (int i = 1; i <= 3; i++) {
		if (!isdigit((unsigned char)at[i]))
			return 0;
		status = status * 10 + (at[i] - '0');
	}
	return status;
}

/* The value in a line of that header, without blanks around it; NULL for another one. free(). */
static char *value_of(const char *line, size_t length, const char *name)
{
	size_t at = strlen(name);

	if (length <= at || line[at] != ':' || strncasecmp(line, name, at) != 0)
		return NULL;
	at++;
	while (at < length && isspace((unsigned char)line[at]))
		at++;
	while (length > at && isspace((unsigned char)line[length - 1]))
		length--;
	return xstrndup(line + at, length - at);
}

static void forget_head(struct grpc_answer *answer)
{
	free(answer->type);
	free(answer->code);
	free(answer->message);
	answer->type = answer->code = answer->message = NULL;
	answer->code_twice = answer->head_done = false;
}

/* The first of each counts. */
static void keep(char **to, char *take_value)
{
	if (*to == NULL)
		*to = take_value;
	else
		free(take_value);
}

static void read_field(struct grpc_answer *answer, const char *line, size_t length)
{
	char *value = value_of(line, length, "grpc-status");

	if (value != NULL) {
		answer->code_twice = answer->code != NULL;
		keep(&answer->code, value);
		return;
	}
	value = value_of(line, length, "grpc-message");
	if (value != NULL) {
		grpc_percent_decode(value);
		keep(&answer->message, value);
		return;
	}
	value = value_of(line, length, "content-type");
	if (value != NULL)
		keep(&answer->type, value);
}

bool grpc_answer_line(struct grpc_answer *answer, const char *line, size_t length)
{
	answer->head_bytes += length;
	answer->head_too_long = answer->head_bytes > MOST_HEAD;
	if (answer->head_too_long)
		return false;
	/* Once more after an answer of 1xx. */
	if (!(answer->head_done && answer->status >= 200) && length >= 5 &&
		memcmp(line, "HTTP/", 5) == 0) {
		forget_head(answer);
		answer->status = read_status(line, length);
	} else if (length <= 2 && (*line == '\r' || *line == '\n')) {
		answer->head_done = true;
	} else {
		read_field(answer, line, length);
	}
	return true;
}

/* application/grpc, and what may follow it: +proto, ;charset=... */
static bool is_grpc(const char *type)
{
	static const char wanted[] = "application/grpc";
	size_t length = sizeof(wanted) - 1;

	return type != NULL && strncasecmp(type, wanted, length) == 0 &&
		strchr("+; ", type[length]) != NULL;
}

static void on_message(void *owner, const unsigned char *bytes, size_t length)
{
	struct grpc_answer *answer = owner;

	answer->readable = grpc_health_decode(bytes, length, &answer->serving);
}

/* What is no gRPC has a body of any size, of which nothing is wanted. */
static bool is_other(const struct grpc_answer *answer)
{
	return answer->status != 200 || !is_grpc(answer->type);
}

bool grpc_answer_body(struct grpc_answer *answer, const void *bytes, size_t length)
{
	if (is_other(answer))
		return false;
	if (answer->stream.message == NULL) {
		answer->stream.message = on_message;
		answer->stream.owner = answer;
	}
	return grpc_stream_take(&answer->stream, bytes, length);
}

void grpc_answer_finish(struct grpc_answer *answer)
{
	unsigned int most = answer->stream.most;

	forget_head(answer);
	*answer = (struct grpc_answer){.stream = {.most = most}};
}

long grpc_answer_code(const struct grpc_answer *answer)
{
	long code = 0;
	size_t length = answer->code == NULL ? 0 : strlen(answer->code);

	if (length == 0 || length > CODE_DIGITS || answer->code_twice)
		return -1;
	for (size_t i = 0; i < length; i++) {
		if (!isdigit((unsigned char)answer->code[i]))
			return -1;
		code = code * 10 + (answer->code[i] - '0');
	}
	return code;
}

bool grpc_answer_is_broken(const struct grpc_answer *answer)
{
	return answer->head_too_long || answer->stream.fault != GRPC_FINE ||
		(answer->head_done && answer->status >= 200 &&
			(is_other(answer) || grpc_answer_code(answer) > GRPC_OK));
}

static struct grpc_verdict critical(enum probe_reason reason, char *take_text)
{
	return (struct grpc_verdict){PROBE_CRITICAL, reason, take_text};
}

static struct grpc_verdict judge_other(const struct grpc_answer *answer)
{
	if (answer->status == 0)
		return critical(REASON_PROTOCOL, xstrdup("the answer is not HTTP/2"));
	if (answer->status != 200)
		return critical(REASON_STATUS, xprintf("HTTP %ld", answer->status));
	if (answer->type == NULL)
		return critical(
			REASON_PROTOCOL, xstrdup("the answer is not gRPC: it has no content type"));
	return critical(REASON_PROTOCOL,
		xprintf("the answer is not gRPC: its content type is '%s'", answer->type));
}

static struct grpc_verdict judge_fault(const struct grpc_stream *stream)
{
	switch (stream->fault) {
	case GRPC_COMPRESSED:
		return critical(REASON_PROTOCOL,
			xstrdup("the message is compressed, which was not offered"));
	case GRPC_TOO_LONG:
		return critical(REASON_PROTOCOL,
			xprintf("the message has %zu bytes; at most %zu are taken", stream->length,
				GRPC_MOST));
	case GRPC_TOO_MANY:
		return critical(REASON_PROTOCOL, xstrdup("more than one message"));
	default:
		return critical(REASON_PROTOCOL,
			xstrdup("the body is not gRPC: it does not begin as a message"));
	}
}

/* What a code means where it is Check that was called; "" where its name says it all. free(). */
static char *hint_for(long code, const char *service)
{
	if (code == GRPC_UNIMPLEMENTED)
		return xstrdup(", the server has no health service");
	if (code != GRPC_NOT_FOUND)
		return xstrdup("");
	if (*service == '\0')
		return xstrdup(", the server has no status for the whole of it");
	return xprintf(", the server does not know the service '%s'", service);
}

static struct grpc_verdict judge_code(
	const struct grpc_answer *answer, long code, const char *service)
{
	const char *message = answer->message == NULL ? "" : answer->message;
	bool named = (size_t)code < sizeof(code_names) / sizeof(*code_names);
	char *hint = hint_for(code, service);
	char *text = xprintf("%s (%ld)%s%s%s", named ? code_names[code] : "grpc-status", code, hint,
		*message == '\0' ? "" : ": ", message);

	free(hint);
	return critical(REASON_STATUS, text);
}

static struct grpc_verdict judge_message(const struct grpc_answer *answer)
{
	const char *name = grpc_serving_name(answer->serving);

	if (grpc_stream_is_open(&answer->stream))
		return critical(REASON_CUT, xstrdup("the message is not whole"));
	if (answer->stream.count == 0)
		return critical(REASON_PROTOCOL, xstrdup("grpc-status is OK, but no message came"));
	if (!answer->readable)
		return critical(
			REASON_PROTOCOL, xstrdup("the message is not a HealthCheckResponse"));
	if (answer->serving == GRPC_SERVING)
		return (struct grpc_verdict){PROBE_PASSING, REASON_NONE, xstrdup(name)};
	return critical(REASON_STATUS,
		name != NULL ? xstrdup(name) : xprintf("serving status %d", answer->serving));
}

struct grpc_verdict grpc_answer_judge(const struct grpc_answer *answer, const char *service)
{
	long code = grpc_answer_code(answer);

	if (answer->head_too_long)
		return critical(REASON_PROTOCOL, xstrdup("the headers are too long"));
	if (is_other(answer))
		return judge_other(answer);
	if (answer->stream.fault != GRPC_FINE)
		return judge_fault(&answer->stream);
	if (answer->code == NULL)
		return critical(REASON_PROTOCOL,
			xstrdup(answer->stream.count > 0
					? "a message, but no trailers with a grpc-status"
					: "HTTP 200, but no grpc-status"));
	if (answer->code_twice)
		return critical(REASON_PROTOCOL, xstrdup("more than one grpc-status"));
	if (code < 0)
		return critical(REASON_PROTOCOL, xprintf("'%s' is no grpc-status", answer->code));
	return code == GRPC_OK ? judge_message(answer) : judge_code(answer, code, service);
}

const char *grpc_answer_progress(const struct grpc_answer *answer)
{
	if (answer->status == 0)
		return NULL;
	if (answer->stream.count > 0)
		return "a message, but no grpc-status";
	return answer->head_done ? "headers, but no message" : "headers incomplete";
}
