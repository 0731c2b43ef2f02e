// SPDX-License-Identifier: MIT
/* Commands and exit codes, nothing else. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runner/command.h"

static const struct {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"run", "watch the checks and keep the Consul agent true", command_run},
	{"validate", "name every problem of a configuration", command_validate},
	{"probe", "run checks once, now, and print what they saw", command_probe},
	{"status", "show what the running daemon knows", command_status},
	{"schema", "print the JSON Schema of a configuration, for editors", command_schema},
	{"reference", "print all keys of a configuration, for people", command_reference},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(*commands))

static void print_help(FILE *stream)
{
	(void)fputs("usage: probity COMMAND [OPTION...]\n\n"
		    "Runs deep health checks beside a service and keeps the TTL checks on the\n"
		    "local Consul agent true.\n\ncommands:\n",
		stream);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		(void)fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
	(void)fputs(
		"\n'probity COMMAND --help' says more; 'probity --version' prints the version.\n",
		stream);
}

/* One that is closed would go to the next file or socket opened, and get what is printed. */
static bool open_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	if (!open_standard_descriptors())
		return EXIT_USAGE;
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_help(stdout);
		return EXIT_FINE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		(void)puts("probity " PROBITY_VERSION);
		return EXIT_FINE;
	}
	(void)fprintf(stderr, "probity: no command '%s'; 'probity --help' lists them\n", argv[1]);
	return EXIT_USAGE;
}
