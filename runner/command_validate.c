// SPDX-License-Identifier: MIT
/* probity validate: every problem of a configuration, in one go. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "runner/command.h"
#include "runner/settings.h"

static const char help[] =
	"usage: probity validate -c PATH [--strict] [--dump]\n"
	"\n"
	"Reads a configuration as 'run' would, starts nothing, and prints all problems\n"
	"as FILE:LINE:COLUMN: error: TEXT.\n"
	"\n"
	"  -c, --config PATH  configuration file or folder\n"
	"      --strict       warnings count as errors\n"
	"      --dump         print what is in force, defaults and all; secrets as ***\n"
	"  -h, --help         this text\n"
	"\n"
	"exit codes: 0 fine, 2 usage or configuration error\n";

static void print_count(const struct settings *settings)
{
	(void)printf("%s: %zu check%s", settings->path, settings->check_count,
		settings->check_count == 1 ? "" : "s");
	if (settings->folder)
		(void)printf(" in %zu file%s", settings->file_count,
			settings->file_count == 1 ? "" : "s");
	(void)puts(", no errors");
}

static int validate(const char *path, bool strict, bool dump)
{
	struct conf_diag *diag = diag_create();
	struct settings *settings = settings_load(path, NULL, diag);
	bool fine = settings != NULL && !(strict && diag_warnings(diag) > 0);

	diag_print(diag, stderr);
	if (settings != NULL && dump)
		settings_print(settings, stdout);
	if (fine && !dump)
		print_count(settings);
	diag_destroy(diag);
	settings_destroy(settings);
	return fine ? EXIT_FINE : EXIT_USAGE;
}

int command_validate(int argc, char **argv)
{
	enum {
		STRICT = 256,
		DUMP,
	};
	static const struct option options[] = {
		{"config", required_argument, NULL, 'c'},
		{"strict", no_argument, NULL, STRICT},
		{"dump", no_argument, NULL, DUMP},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	const char *path = NULL;
	bool strict = false, dump = false;
	int option;

	while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		if (option == 'c')
			path = optarg;
		else if (option == STRICT)
			strict = true;
		else if (option == DUMP)
			dump = true;
		else if (option == 'h')
			return command_help(help);
		else
			return command_usage("validate", NULL);
	}
	if (optind < argc)
		return command_usage("validate", "takes options only");
	if (path == NULL)
		return command_usage("validate", "needs a configuration: -c PATH");
	return validate(path, strict, dump);
}
