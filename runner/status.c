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
#include "runner/control_socket.h"
#include "runner/table.h"

#define ASK_TIMEOUT 5L /* s: the daemon answers within a loop pass */
#define ASK_TIMES 3 /* a reload cuts the answer; three in a row are no accident */
#define ANSWER_MOST (64UL << 20) /* bytes: 10,000 checks with full output are 50 MB */
#define WATCH_SECONDS 1
#define UNDECIDED "undecided" /* in place of a status that is null */

static const char help[] =
	"usage: probity status [--json] [--watch] [--runtime-dir DIR]\n"
	"\n"
	"Asks the running daemon what it knows: each check's status, how old its last\n"
	"result is, when it runs next, and what the agent acknowledged.\n"
	"\n"
	"      --json             the daemon's answer as it is\n"
	"      --watch            print again every second, until interrupted\n"
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
	char *path = xprintf("%s/%s", runtime_dir, CONTROL_SOCKET_NAME);
	CURLcode result = CURLE_OUT_OF_MEMORY;
	long code = 0;

	if (easy != NULL) {
		(void)curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, path);
		(void)curl_easy_setopt(easy, CURLOPT_URL, "http://localhost/v1/status");
		(void)curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
		(void)curl_easy_setopt(easy, CURLOPT_TIMEOUT, ASK_TIMEOUT);
		(void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
		(void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, answer);
		for (int i = 0; i < ASK_TIMES; i++) {
			answer->length = 0;
			result = curl_easy_perform(easy);
			if (result != CURLE_PARTIAL_FILE)
				break;
		}
		(void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
		curl_easy_cleanup(easy);
	}
	if (result != CURLE_OK || code != 200)
		(void)fprintf(stderr,
			"probity status: no daemon answers at %s (%s); is probity running, and "
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

static const char *status_of(const json_t *check)
{
	const char *status = text_of(check, "status");

	return *status == '\0' ? UNDECIDED : status;
}

/* The number under key, mostly seconds; -1 for null. */
static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : -1;
}

/* Where the daemon's claims go, in the rest of a line. */
static void print_agent(const json_t *agent)
{
	const char *unread = text_of(agent, "read_back");
	char since[32];

	table_duration(number_of(agent, "changed_at"), since, sizeof(since));
	if (json_is_true(json_object_get(agent, "off")))
		(void)printf("no agent (standalone)\n");
	else if (number_of(agent, "calls") <= 0)
		(void)printf("agent %s not asked yet\n", text_of(agent, "address"));
	else if (json_is_true(json_object_get(agent, "reachable")))
		(void)printf("agent %s reachable%s%s\n", text_of(agent, "address"),
			*unread == '\0' ? "" : "; the catalog is not read back: ", unread);
	else
		(void)printf("agent %s NOT REACHABLE for %s: %s\n", text_of(agent, "address"),
			since, text_of(agent, "problem"));
}

/* How many checks stand where: with hundreds of rows, this is what fits on a screen. */
static void print_counts(const json_t *checks)
{
	static const char *const names[] = {"critical", "warning", UNDECIDED, "passing"};
	const char *separator = ": ";
	size_t total = json_array_size(checks), i;
	const json_t *check;

	(void)printf("%zu check%s", total, total == 1 ? "" : "s");
	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++) {
		size_t count = 0;

		json_array_foreach (checks, i, check)
			count += strcmp(names[n], status_of(check)) == 0;
		if (count == 0)
			continue;
		(void)printf("%s%zu %s", separator, count, names[n]);
		separator = ", ";
	}
	(void)putchar('\n');
}

static void print_head(const json_t *root)
{
	char uptime[32];
	const json_t *file;
	size_t i;

	table_duration(number_of(root, "uptime"), uptime, sizeof(uptime));
	(void)printf("probity %s, %s, up %s; ", text_of(root, "version"), text_of(root, "config"),
		uptime);
	print_agent(json_object_get(root, "agent"));
	if (*text_of(root, "reload_error") != '\0')
		(void)printf("the last reload failed: %s\n", text_of(root, "reload_error"));
	json_array_foreach (json_object_get(root, "left_out"), i, file)
		(void)printf("left out: %s\n", text_of(file, "problem"));
	print_counts(json_object_get(root, "checks"));
	(void)putchar('\n');
}

/* What the agent knows, in a few words. */
static void describe_agent(const json_t *root, const json_t *check, char *text, size_t size)
{
	const json_t *agent = json_object_get(check, "agent");
	char ago[32];

	table_duration(number_of(agent, "acknowledged_at"), ago, sizeof(ago));
	/* A shared probe is no check on the agent. */
	if (json_is_true(json_object_get(json_object_get(root, "agent"), "off")) ||
		*text_of(check, "id") == '/')
		(void)snprintf(text, size, "-");
	else if (json_is_true(json_object_get(agent, "acknowledged")))
		(void)snprintf(text, size, "%s ago", ago);
	else if (number_of(agent, "acknowledged_at") >= 0)
		(void)snprintf(text, size, "not yet; %s %s ago",
			text_of(agent, "acknowledged_status"), ago);
	else
		(void)snprintf(text, size, "not yet");
}

/* The claim's first line; of an undecided check, what its last run came to. free(). */
static char *describe_output(const json_t *check)
{
	const char *output = text_of(check, "output"), *result = text_of(check, "result");
	char *line;

	if (strcmp(status_of(check), UNDECIDED) == 0 && *result != '\0') {
		const char *said = text_of(check, "result_line");

		line = xprintf("last run %s%s%s", result, *said == '\0' ? "" : ": ", said);
	} else {
		line = xstrdup(output);
	}
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static void add_check(struct table *table, const json_t *root, const json_t *check)
{
	const char *problem = text_of(json_object_get(check, "agent"), "problem");
	char since[32], age[32], next[32], late[32], agent[64];
	char *line;

	table_duration(number_of(check, "changed"), since, sizeof(since));
	table_duration(number_of(check, "age"), age, sizeof(age));
	table_duration(number_of(check, "next_run_in"), next, sizeof(next));
	table_duration(number_of(check, "lateness"), late, sizeof(late));
	describe_agent(root, check, agent, sizeof(agent));
	line = describe_output(check);
	table_add(table,
		(const char *const[]){status_of(check), text_of(check, "id"), since, age,
			json_is_true(json_object_get(check, "running")) ? "now" : next, late, agent,
			line});
	if (*problem != '\0')
		table_add_note(table, problem);
	free(line);
}

static void print_status(const json_t *root)
{
	static const char *const lists[] = {"checks", "probes"};
	static const char *const titles[] = {
		"STATUS", "CHECK", "SINCE", "AGE", "NEXT", "LATE", "AGENT", "OUTPUT", NULL};
	struct table *table = table_create(titles);
	const json_t *check;
	size_t i;

	print_head(root);
	for (size_t list = 0; list < sizeof(lists) / sizeof(*lists); list++) {
		json_array_foreach (json_object_get(root, lists[list]), i, check)
			add_check(table, root, check);
	}
	table_print(table, table_wants_colour(stdout), stdout);
	table_destroy(table);
}

static int status_code(const json_t *root)
{
	const json_t *check;
	size_t i;

	json_array_foreach (json_object_get(root, "checks"), i, check) {
		const char *status = status_of(check);

		if (strcmp(status, "passing") != 0 && strcmp(status, UNDECIDED) != 0)
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

/* Ends by a signal, or at once where nobody answers: a daemon that restarts comes back. */
static int watch(const char *runtime_dir, bool json)
{
	bool answered = false;
	int code;

	do {
		if (isatty(STDOUT_FILENO))
			(void)fputs("\033[H\033[2J", stdout); /* home, clear */
		(void)fflush(stdout);
		code = show(runtime_dir, json);
		(void)fflush(stdout);
		answered = answered || code != EXIT_USAGE;
		(void)sleep(answered ? WATCH_SECONDS : 0);
	} while (answered && ferror(stdout) == 0);
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
