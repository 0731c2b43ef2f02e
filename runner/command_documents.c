// SPDX-License-Identifier: MIT
/* probity schema, probity reference: the rows, for editors and for people. */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>

#include "config/reference.h"
#include "config/schema.h"
#include "runner/command.h"
#include "runner/settings.h"

static const char schema_help[] =
	"usage: probity schema\n"
	"\n"
	"Prints the JSON Schema (draft 7) of a configuration file, for editors and for\n"
	"checks in a repository. An editor with the YAML language server takes it from\n"
	"the file's first line:\n"
	"\n"
	"  # yaml-language-server: $schema=/usr/share/probity/probity.schema.json\n"
	"\n"
	"  -h, --help  this text\n";

static const char reference_help[] =
	"usage: probity reference\n"
	"\n"
	"Prints all keys of a configuration as Markdown: kinds, limits, defaults, an\n"
	"example for each type of probe.\n"
	"\n"
	"  -h, --help  this text\n";

static const char introduction[] =
	"<!-- Written by `probity reference`. -->\n"
	"# Configuration reference\n"
	"\n"
	"A configuration is a YAML file, or a folder whose `*.yaml` files are read in byte\n"
	"order. A mistake is reported as `file:line:column`, all of them at once.\n"
	"\n"
	"- A duration is a number with a unit, or several from large to small: `1m30s`,\n"
	"  `250ms`, `1.5s`. The units are `d`, `h`, `m`, `s` and `ms`.\n"
	"- A size is a number with one of the units `B`, `KiB`, `MiB` and `GiB`.\n"
	"- Text is taken as written: `no`, `1e3` and `007` stay text. Booleans are `true` and\n"
	"  `false` only, numbers are decimal, without a leading zero.\n"
	"- `${NAME}` in a value is taken from the environment and counts as secret, `$$` is a\n"
	"  dollar; not in `command` and `shell`.\n"
	"- A secret is text, or `{file: PATH, prefix: TEXT}`, whose file is read at each run.\n"
	"  No message, log or output shows it.\n"
	"- Anchors, aliases and `<<` work; a key that stands twice is an error.\n"
	"\n"
	"## Keys of a file\n"
	"\n";

/* True where the command is to print; else *ret_code is its end. */
static bool wants_print(int argc, char **argv, const char *help, int *ret_code)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
	int option = getopt_long(argc, argv, "h", options, NULL);

	if (option == 'h')
		*ret_code = command_help(help);
	else if (option != -1)
		*ret_code = command_usage(argv[0], NULL);
	else if (optind < argc)
		*ret_code = command_usage(argv[0], "takes nothing");
	else
		return true;
	return false;
}

static int finish(void)
{
	/* A pipe that was closed, a full disk: half a schema must not look like one. */
	if (fflush(stdout) == 0)
		return EXIT_FINE;
	perror("probity: cannot write");
	return EXIT_USAGE;
}

int command_schema(int argc, char **argv)
{
	json_t *schema;
	int code;

	if (!wants_print(argc, argv, schema_help, &code))
		return code;
	schema = schema_document(settings_fields, "Probity configuration");
	(void)json_dumpf(schema, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	(void)putchar('\n');
	json_decref(schema);
	return finish();
}

int command_reference(int argc, char **argv)
{
	int code;

	if (!wants_print(argc, argv, reference_help, &code))
		return code;
	(void)fputs(introduction, stdout);
	reference_print(settings_fields, stdout);
	return finish();
}
