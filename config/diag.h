/* SPDX-License-Identifier: MIT */
/* config/diag.h: the problems found in a configuration, gathered and sorted. */
#ifndef CONFIG_DIAG_H
#define CONFIG_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A place in a file. Lines and columns count from 1; 0 means the file as a whole. */
struct conf_mark {
	const char *file; /* borrowed */
	unsigned int line, column;
};

enum conf_severity {
	CONF_ERROR,
	CONF_WARNING, /* a lint: the file loads; `validate --strict` refuses it */
};

struct conf_problem {
	struct conf_mark mark; /* its file is the list's own copy */
	enum conf_severity severity;
	const char *text; /* owned by the list */
};

struct conf_diag;

struct conf_diag *diag_create(void);
void diag_destroy(struct conf_diag *diag); /* accepts NULL */

/*
 * Records one problem. The same text at the same place is recorded once. The
 * first 20 errors, in order of place, and as many warnings are kept; the rest
 * are only counted: nobody reads further than that.
 */
void diag_add(struct conf_diag *diag, struct conf_mark mark, enum conf_severity severity,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

size_t diag_errors(const struct conf_diag *diag);
size_t diag_warnings(const struct conf_diag *diag);

/* The index-th problem in order of file, line and column; NULL past the end. Borrowed. */
const struct conf_problem *diag_at(struct conf_diag *diag, size_t index);

/* One problem a line, "file:line:column: error: text", sorted, and a line for those left out. */
void diag_print(struct conf_diag *diag, FILE *stream);

#endif
