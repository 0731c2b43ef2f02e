/* SPDX-License-Identifier: MIT */
/* runner/command.h: the subcommands; main.c has the table. */
#ifndef RUNNER_COMMAND_H
#define RUNNER_COMMAND_H

/*
 * Each gets argc and argv from its own name on, parses its options with
 * getopt_long, and returns the exit code: 0 fine, 1 a finding, 2 usage or
 * configuration error (probe: 0 passing, 1 warning, 2 critical, 3 could not run).
 */
int command_run(int argc, char **argv);
int command_validate(int argc, char **argv);
int command_probe(int argc, char **argv);
int command_status(int argc, char **argv);
int command_schema(int argc, char **argv);
int command_reference(int argc, char **argv);

#define EXIT_FINE 0
#define EXIT_FINDING 1
#define EXIT_USAGE 2
#define EXIT_COULD_NOT 3 /* probe only */

/* Where the daemon keeps its socket and state: `given`, else $RUNTIME_DIRECTORY, else /run/probity.
 */
const char *command_runtime_dir(const char *given);

/* Prints the problem (NULL: getopt printed one) and where help is; EXIT_USAGE. */
int command_usage(const char *command, const char *problem);

/* Prints a help text to stdout; EXIT_FINE. */
int command_help(const char *text);

#endif
