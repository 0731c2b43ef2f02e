// SPDX-License-Identifier: MIT
/* The bytes of a configuration file: reading them, and what may stand in them. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/yaml_private.h"

/* Decodes one code point; its length in bytes, or 0 where the bytes are not UTF-8. */
static size_t decode(const unsigned char *bytes, size_t left, uint32_t *ret_point)
{
	/* The least code point of each length: anything below is an overlong form. */
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = bytes[0] < 0x80     ? 1
		: (bytes[0] & 0xe0) == 0xc0 ? 2
		: (bytes[0] & 0xf0) == 0xe0 ? 3
		: (bytes[0] & 0xf8) == 0xf0 ? 4
					    : 0;
	uint32_t point;

	if (length == 0 || length > left)
		return 0;
	point = length == 1 ? bytes[0] : bytes[0] & (0x7fU >> length);
	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (bytes[i] & 0x3f);
	}
	if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		return 0;
	*ret_point = point;
	return length;
}

/* The printable set of YAML 1.1, section 4.1, which is what libyaml takes. */
static bool is_allowed(uint32_t point)
{
	return point == '\t' || point == '\n' || point == '\r' ||
		(point >= 0x20 && point <= 0x7e) || point == 0x85 ||
		(point >= 0xa0 && point <= 0xd7ff) ||
		(point >= 0xe000 && point <= 0xfffd && point != 0xfeff) || point >= 0x10000;
}

static bool starts_with(const char *bytes, size_t length, const char *start, size_t start_length)
{
	return length >= start_length && memcmp(bytes, start, start_length) == 0;
}

static bool has_no_mark(const char *file, const char *bytes, size_t length, struct conf_diag *diag)
{
	const struct conf_mark mark = {.file = file, .line = 1, .column = 1};

	if (starts_with(bytes, length, "\xef\xbb\xbf", 3)) {
		diag_add(diag, mark, CONF_ERROR,
			"the file starts with a byte order mark; save it as UTF-8 without one");
		return false;
	}
	if (starts_with(bytes, length, "\xff\xfe", 2) ||
		starts_with(bytes, length, "\xfe\xff", 2)) {
		diag_add(diag, mark, CONF_ERROR, "the file is UTF-16; save it as UTF-8");
		return false;
	}
	return true;
}

static void refuse_control(struct conf_diag *diag, struct conf_mark mark, uint32_t point)
{
	if (point == 0)
		diag_add(diag, mark, CONF_ERROR, "a NUL byte; the file is not text");
	else if (point == 0xfeff)
		diag_add(diag, mark, CONF_ERROR, "a byte order mark inside the file; remove it");
	else
		diag_add(diag, mark, CONF_ERROR,
			"control character U+%04X; in double quotes, write it as \\x%02X",
			(unsigned int)point, (unsigned int)point);
}

bool yaml_is_text(const char *text)
{
	size_t length = strlen(text);
	uint32_t point;
	size_t step;

	for (size_t at = 0; at < length; at += step) {
		step = decode((const unsigned char *)text + at, length - at, &point);
		if (step == 0 || !is_allowed(point))
			return false;
	}
	return true;
}

bool yaml_bytes_are_text(const char *file, const char *bytes, size_t length, struct conf_diag *diag)
{
	const unsigned char *cursor = (const unsigned char *)bytes;
	struct conf_mark mark = {.file = file, .line = 1, .column = 1};
	uint32_t point = 0;
	size_t step;

	if (!has_no_mark(file, bytes, length, diag))
		return false;
	for (size_t at = 0; at < length; at += step) {
		uint32_t last = point;

		step = decode(cursor + at, length - at, &point);
		if (step == 0) {
			diag_add(diag, mark, CONF_ERROR,
				"byte 0x%02X is not UTF-8; save the file as UTF-8", cursor[at]);
			return false;
		}
		if (!is_allowed(point)) {
			refuse_control(diag, mark, point);
			return false;
		}
		if (point == '\n' && last == '\r')
			continue; /* one line break, counted at its first half */
		mark.column++;
		if (point == '\n' || point == '\r') {
			mark.line++;
			mark.column = 1;
		}
	}
	return true;
}

/* Reads at most size bytes. Returns their number, or negative errno. */
static ssize_t read_all(int fd, char *buffer, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t got = read(fd, buffer + used, size - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		used += (size_t)got;
	}
	return (ssize_t)used;
}

/* The number of bytes read, or negative errno; what *ret_bytes then is must be freed all the same.
 */
static ssize_t read_file(const char *file, char **ret_bytes)
{
	/* A pipe without a writer must not stop us: it is refused below. */
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	ssize_t got;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0) {
		got = -errno;
	} else if (!S_ISREG(status.st_mode)) {
		got = S_ISDIR(status.st_mode) ? -EISDIR : -ENOTSUP;
	} else {
		*ret_bytes = xcalloc(1, CONF_MAX_BYTES + 1);
		got = read_all(fd, *ret_bytes, CONF_MAX_BYTES + 1);
	}
	(void)close(fd);
	return got;
}

struct conf_node *node_load(struct arena *arena, const char *file, struct conf_diag *diag)
{
	const struct conf_mark mark = {.file = file};
	char *bytes = NULL;
	ssize_t length = read_file(file, &bytes);
	struct conf_node *root = NULL;

	if (length == -EISDIR)
		diag_add(diag, mark, CONF_ERROR, "is a folder; give a file");
	else if (length == -ENOTSUP)
		diag_add(diag, mark, CONF_ERROR, "is not a regular file");
	else if (length < 0)
		diag_add(diag, mark, CONF_ERROR, "cannot read: %s", strerror((int)-length));
	else
		root = node_parse(arena, file, bytes, (size_t)length, diag);
	free(bytes);
	return root;
}
