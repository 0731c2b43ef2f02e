// SPDX-License-Identifier: MIT
/* The one way out for what happens outside a run. */
#include "probes/notice.h"

#include <stdarg.h>
#include <stdlib.h>

#include "config/arena.h"

static void (*notice_hook)(const char *text);

void notice_set(void (*hook)(const char *text))
{
	notice_hook = hook;
}

void notice(const char *format, ...)
{
	va_list arguments;
	char *text;

	if (notice_hook == NULL)
		return;
	va_start(arguments, format);
	text = xvprintf(format, arguments);
	va_end(arguments);
	notice_hook(text);
	free(text);
}
