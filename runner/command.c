// SPDX-License-Identifier: MIT
/* What the subcommands share. */
#include "runner/command.h"

#include <stdio.h>
#include <stdlib.h>

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
	const char *from_systemd = getenv("RUNTIME_DIRECTORY");

	if (given != NULL)
		return given;
	/* systemd.exec(5): set where the unit has RuntimeDirectory=. */
	if (from_systemd != NULL && *from_systemd == '/')
		return from_systemd;
	return "/run/probity";
}
