// SPDX-License-Identifier: MIT
/* Metadata by the rules of gRPC over HTTP/2 (grpc.github.io, PROTOCOL-HTTP2). */
#include "probes/grpc_metadata.h"

#include <string.h>

#include "config/arena.h"
#include "probes/secret.h"

#define BINARY "-bin"

static bool is_ours(const char *name)
{
	/* What the call itself sets, and what HTTP/2 does not have (RFC 9113, 8.2.2). */
	static const char *const ours[] = {"accept", "accept-encoding", "connection",
		"content-length", "content-type", "expect", "host", "keep-alive",
		"proxy-connection", "te", "transfer-encoding", "upgrade", "user-agent"};

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
		if (strcmp(name, ours[i]) == 0)
			return true;
	}
	return strncmp(name, "grpc-", strlen("grpc-")) == 0;
}

const char *grpc_metadata_refusal(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
	static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (strpbrk(name, capitals) != NULL)
		return "names are written in small letters";
	if (*name == '\0' || name[strspn(name, letters)] != '\0')
		return "a name has letters, digits, '_', '-' and '.' only";
	return is_ours(name) ? "this one is set by probity" : NULL;
}

bool grpc_metadata_is_binary(const char *name)
{
	size_t length = strlen(name), end = strlen(BINARY);

	return length >= end && strcmp(name + length - end, BINARY) == 0;
}

bool grpc_metadata_is_text(const char *value)
{
	for (; *value != '\0'; value++) {
		if (*value < ' ' || *value > '~')
			return false;
	}
	return true;
}

/* RFC 4648, section 4, without padding: both forms must be accepted, this one is to be sent. */
static char *encode(const char *value)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t length = strlen(value);
	char *text = xcalloc((length + 2) / 3 * 4 + 1, 1);
	char *to = text;

	for (size_t at = 0; at < length; at += 3) {
		size_t left = length - at < 3 ? length - at : 3;
		unsigned long bits = 0;

		for (size_t i = 0; i < 3; i++)
			bits = bits << 8 | (i < left ? (unsigned char)value[at + i] : 0U);
		for (size_t i = 0; i <= left; i++)
			*to++ = digits[bits >> (18 - 6 * i) & 63];
	}
	return text;
}

char *grpc_metadata_line(const char *name, const char *value)
{
	char *encoded = grpc_metadata_is_binary(name) ? encode(value) : NULL;
	const char *sent = encoded == NULL ? value : encoded;
	/* Without a value libcurl would leave the header out; a semicolon sends it empty. */
	char *line = sent[strspn(sent, " ")] == '\0' ? xprintf("%s;", name)
						     : xprintf("%s: %s", name, sent);

	secret_free(encoded);
	return line;
}
