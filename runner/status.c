// SPDX-License-Identifier: MIT
/* probity status: asks the daemon and prints what it knows. */
#include <curl/curl.h>
#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/arena.h"
#include "runner/command.h"
#include "runner/table.h"

#define ASK_TIMEOUT 5L /* s: the daemon answers within a loop pass */
#define ANSWER_MOST (64UL << 20) /* bytes: 10,000 checks with full output are 50 MB */
#define WATCH_SECONDS 1

static const char help[] =
	"usage: probity status [--json] [--watch] [--runtime-dir DIR]\n"
	"\n"
	"Asks the running daemon what it knows: each check's status, how old its last\n"
	"result is, when it runs next, and what the agent acknowledged.\n"
	"\n"
	"      --json             the daemon's answer as it is\n"
	"      --watch            print again every second\n"
	"      --runtime-dir DIR  where the daemon's socket is; default\n"
	"                         $RUNTIME_DIRECTORY, else /run/probity\n"
	"  -h, --help             this text\n"
	"\n"
	"exit codes: 0 all checks pass, 1 one does not, 2 usage error or no daemon\n";

struct answer {
	char *bytes;
	size_t length;
};

static size_t on_bytes(char *bytes, size_t size, size_t count, void *owner)
{
	struct answer *answer = owner;
	size_t length = size * count;

	if (answer->length + length > ANSWER_MOST)
		return 0;
	answer->bytes = xrealloc(answer->bytes, answer->length + length + 1, 1);
	memcpy(answer->bytes + answer->length, bytes, length);
	answer->length += length;
	answer->bytes[answer->length] = '\0';
	return length;
}

/* Blocking is right here: the command does nothing else. */
static bool ask(const char *runtime_dir, struct answer *answer)
{
	CURL *easy = curl_easy_init();
	char *path = xprintf("%s/control.sock", runtime_dir);
	CURLcode result = CURLE_OUT_OF_MEMORY;
	long code = 0;

	if (easy != NULL) {
		(void)curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, path);
		(void)curl_easy_setopt(easy, CURLOPT_URL, "http://localhost/v1/status");
		(void)curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
		(void)curl_easy_setopt(easy, CURLOPT_TIMEOUT, ASK_TIMEOUT);
		(void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
		(void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, answer);
		result = curl_easy_perform(easy);
		(void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
		curl_easy_cleanup(easy);
	}
	if (result != CURLE_OK || code != 200)
		(void)fprintf(stderr,
			"probity status: no daemon answers at %s (%s); is 'probity run' running "
			"with this runtime directory?\n",
			path, result != CURLE_OK ? curl_easy_strerror(result) : "not a probity");
	free(path);
	return result == CURLE_OK && code == 200;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

/* Seconds under key, -1 for null. */
static double seconds_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : -1;
}

static void print_head(const json_t *root)
{
	const json_t *agent = json_object_get(root, "agent");
	char uptime[32], since[32];

	table_duration(seconds_of(root, "uptime"), uptime, sizeof(uptime));
	table_duration(seconds_of(agent, "changed_at"), since, sizeof(since));
	(void)printf("probity %s, %s, up %s; agent %s", text_of(root, "version"),
		text_of(root, "config"), uptime, text_of(agent, "address"));
	if (json_is_true(json_object_get(agent, "off")))
		(void)printf(" (standalone)\n");
	else if (json_is_true(json_object_get(agent, "reachable")))
		(void)printf(" reachable\n");
	else
		(void)printf(" NOT REACHABLE for %s: %s\n", since, text_of(agent, "problem"));
	if (*text_of(root, "reload_error") != '\0')
		(void)printf("the last reload failed: %s\n", text_of(root, "reload_error"));
	(void)putchar('\n');
}

/* What the agent knows, in a word or two. */
static void describe_agent(const json_t *root, const json_t *check, char *text, size_t size)
{
	const json_t *agent = json_object_get(check, "agent");
	char ago[32];

	table_duration(seconds_of(agent, "acknowledged_at"), ago, sizeof(ago));
	if (json_is_true(json_object_get(json_object_get(root, "agent"), "off")))
		(void)snprintf(text, size, "-");
	else if (json_is_true(json_object_get(agent, "acknowledged")))
		(void)snprintf(text, size, "%s ago", ago);
	else
		(void)snprintf(text, size, "not yet");
}

static void add_check(struct table *table, const json_t *root, const json_t *check)
{
	const char *status = text_of(check, "status");
	const char *problem = text_of(json_object_get(check, "agent"), "problem");
	char age[32], next[32], late[32], agent[48];
	char *line;

	table_duration(seconds_of(check, "age"), age, sizeof(age));
	table_duration(seconds_of(check, "next_run_in"), next, sizeof(next));
	table_duration(seconds_of(check, "lateness"), late, sizeof(late));
	describe_agent(root, check, agent, sizeof(agent));
	line = xstrdup(*text_of(check, "output") != '\0' ? text_of(check, "output")
							 : text_of(check, "result_line"));
	line[strcspn(line, "\n")] = '\0';
	table_add(table,
		(const char *const[]){*status == '\0' ? "undecided" : status, text_of(check, "id"),
			age, json_is_true(json_object_get(check, "running")) ? "now" : next, late,
			agent, line});
	if (*problem != '\0')
		table_add_note(table, problem);
	free(line);
}

static void print_status(const json_t *root)
{
	static const char *const titles[] = {
		"STATUS", "CHECK", "AGE", "NEXT", "LATE", "AGENT", "OUTPUT", NULL};
	struct table *table = table_create(titles);
	const json_t *check;
	size_t i;

	print_head(root);
	json_array_foreach (json_object_get(root, "checks"), i, check)
		add_check(table, root, check);
	table_print(table, table_wants_colour(stdout), stdout);
	table_destroy(table);
}

static int status_code(const json_t *root)
{
	const json_t *check;
	size_t i;

	json_array_foreach (json_object_get(root, "checks"), i, check) {
		const char *status = text_of(check, "status");

		if (*status != '\0' && strcmp(status, "passing") != 0)
			return EXIT_FINDING;
	}
	return EXIT_FINE;
}

static int show(const char *runtime_dir, bool json)
{
	struct answer answer = {0};
	int code = EXIT_USAGE;
	json_t *root = NULL;

	if (ask(runtime_dir, &answer)) {
		root = json_loadb(answer.bytes, answer.length, 0, NULL);
		if (root == NULL)
			(void)fputs("probity status: the answer is not JSON; is it a probity?\n",
				stderr);
	}
	if (root != NULL && json) {
		(void)fwrite(answer.bytes, 1, answer.length, stdout);
		(void)putchar('\n');
	}
	if (root != NULL && !json)
		print_status(root);
	if (root != NULL)
		code = status_code(root);
	json_decref(root);
	free(answer.bytes);
	return code;
}

static int watch(const char *runtime_dir, bool json)
{
	int code;

	do {
		if (isatty(STDOUT_FILENO))
			(void)fputs("\033[H\033[2J", stdout); /* home, clear */
		code = show(runtime_dir, json);
		(void)fflush(stdout);
		(void)sleep(WATCH_SECONDS);
	} while (code != EXIT_USAGE);
	return code;
}

int command_status(int argc, char **argv)
{
	enum {
		JSON = 256,
		WATCH,
		RUNTIME_DIR,
	};
	static const struct option options[] = {
		{"json", no_argument, NULL, JSON},
		{"watch", no_argument, NULL, WATCH},
		{"runtime-dir", required_argument, NULL, RUNTIME_DIR},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	const char *runtime_dir = NULL;
	bool json = false, again = false;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == JSON)
			json = true;
		else if (option == WATCH)
			again = true;
		else if (option == RUNTIME_DIR)
			runtime_dir = optarg;
		else if (option == 'h')
			return command_help(help);
		else
			return command_usage("status", NULL);
	}
	if (optind < argc)
		return command_usage("status", "takes options only");
	runtime_dir = command_runtime_dir(runtime_dir);
	return again ? watch(runtime_dir, json) : show(runtime_dir, json);
}
