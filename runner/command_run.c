// SPDX-License-Identifier: MIT
/* probity run: the daemon in the foreground. */
#include <getopt.h>
#include <stdio.h>

#include "runner/command.h"
#include "runner/log.h"
#include "runner/runner.h"

static const char help[] =
	"usage: probity run -c PATH [--runtime-dir DIR] [--log-level LEVEL]\n"
	"\n"
	"Watches the checks of a configuration in the foreground and keeps the Consul\n"
	"agent true. SIGHUP reads the configuration again, SIGTERM stops.\n"
	"\n"
	"  -c, --config PATH      configuration file or folder\n"
	"      --runtime-dir DIR  socket and state file; default $RUNTIME_DIRECTORY,\n"
	"                         else /run/probity\n"
	"      --log-level LEVEL  error, warning, notice, info (default) or debug\n"
	"  -h, --help             this text\n"
	"\n"
	"exit codes: 0 stopped by a signal, 2 usage or configuration error\n";

int command_run(int argc, char **argv)
{
	enum {
		RUNTIME_DIR = 256,
		LOG_LEVEL,
	};
	static const struct option options[] = {
		{"config", required_argument, NULL, 'c'},
		{"runtime-dir", required_argument, NULL, RUNTIME_DIR},
		{"log-level", required_argument, NULL, LOG_LEVEL},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct runner_options run = {0};
	enum log_level level = LOG_LEVEL_INFO;
	int option;

	while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		if (option == 'c')
			run.config = optarg;
		else if (option == RUNTIME_DIR)
			run.runtime_dir = optarg;
		else if (option == LOG_LEVEL && !log_parse_level(optarg, &level))
			return command_usage(
				"run", "--log-level takes error, warning, notice, info or debug");
		else if (option == 'h')
			return command_help(help);
		else if (option == '?')
			return command_usage("run", NULL);
	}
	if (optind < argc)
		return command_usage("run", "takes options only");
	if (run.config == NULL)
		return command_usage("run", "needs a configuration: -c PATH");
	log_set_level(level);
	run.runtime_dir = command_runtime_dir(run.runtime_dir);
	return runner_main(&run);
}
