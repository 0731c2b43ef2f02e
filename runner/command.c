// SPDX-License-Identifier: MIT
/* What the subcommands share. */
#include "runner/command.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int command_usage(const char *command, const char *problem)
{
	if (problem != NULL)
		(void)fprintf(stderr, "probity %s: %s\n", command, problem);
	(void)fprintf(stderr, "'probity %s --help' shows the options\n", command);
	return EXIT_USAGE;
}

int command_help(const char *text)
{
	(void)fputs(text, stdout);
	return EXIT_FINE;
}

const char *command_runtime_dir(const char *given)
{
	static char first[PATH_MAX];
	const char *from_systemd = getenv("RUNTIME_DIRECTORY");
	int length;

	if (given != NULL)
		return given;
	/* systemd.exec(5): set where the unit has RuntimeDirectory=, a list with colons. */
	if (from_systemd == NULL || *from_systemd != '/')
		return "/run/probity";
	length = snprintf(
		first, sizeof(first), "%.*s", (int)strcspn(from_systemd, ":"), from_systemd);
	return length < (int)sizeof(first) ? first : from_systemd;
}
