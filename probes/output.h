/* SPDX-License-Identifier: MIT */
/* probes/output.h: any bytes in, valid UTF-8 of at most OUTPUT_MAX bytes out. */
#ifndef PROBES_OUTPUT_H
#define PROBES_OUTPUT_H

#include <stddef.h>

/* Consul's check_output_max_size: the agent would cut the tail of anything longer. */
#define OUTPUT_MAX 4096

/*
 * A growing capture that keeps the head and the tail of what was put into it, in
 * bounded memory: nothing is allocated until the first byte, never more than
 * about 2 * OUTPUT_MAX. A struct of zeroes is an empty one.
 */
struct output {
	char *head; /* first OUTPUT_MAX bytes */
	size_t head_length;
	char *tail; /* ring of the last OUTPUT_MAX bytes after the head */
	size_t tail_next;
	size_t total; /* bytes put in */
};

void output_append(struct output *output, const void *bytes, size_t length);
void output_clear(struct output *output); /* frees; the struct is empty again */

/*
 * The text to publish, newly allocated (free()) and terminated: `line` (ours;
 * NULL or "" for none), a newline, then the captured bytes. Valid UTF-8, at most
 * OUTPUT_MAX bytes with all marks. What is too long keeps its head and its tail
 * around "… [N bytes left out] …"; the line is kept whole before anything of the
 * capture (a line over 1024 bytes is itself shortened the same way). One U+FFFD
 * per maximal invalid subpart; controls but tab and newline, U+007F and
 * U+0080-009F are dropped. Trailing newlines and blanks of the capture are dropped.
 */
char *output_render(const struct output *output, const char *line);

/* The same cleaning for one piece of text, on one line: newlines become blanks. free(). */
char *output_clean_line(const char *bytes, size_t length, size_t most);

#endif
