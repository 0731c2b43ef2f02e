/* SPDX-License-Identifier: MIT */
/* probes/notice.h: what happens outside a run and somebody should hear of. Leaf code never logs. */
#ifndef PROBES_NOTICE_H
#define PROBES_NOTICE_H

/* Sets who hears it (runner/log); NULL for nobody. text is borrowed for the call, one line. */
void notice_set(void (*hook)(const char *text));

/* For rare things only: a child that survives KILL, a resolver configuration that cannot be read.
 */
void notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
