// SPDX-License-Identifier: MIT
/* What /proc says of our own children. */
#include "probes/child_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/arena.h"

#define PROC_PATH_SIZE 64 /* "/proc/self/task/2147483647/children" and room */
#define LIST_SIZE 16384 /* thousands of pids in one read, as each read walks the list anew */
/* /proc/PID/stat: 52 numbers of at most 20 digits and a name of at most 64 bytes. */
#define STAT_SIZE 2048

static struct {
	pid_t *pids;
	size_t count, room;
} found;

static void remember(pid_t pid)
{
	if (found.count == found.room) {
		found.room = found.room == 0 ? 64 : 2 * found.room;
		found.pids = xrealloc(found.pids, found.room, sizeof(*found.pids));
	}
	found.pids[found.count++] = pid;
}

double tree_tick(void)
{
	return 1.0 / (double)sysconf(_SC_CLK_TCK);
}

/* Reads as much of a file as fits, terminated. Returns the length, or negative errno. */
static ssize_t read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return -errno;
	length = read(fd, text, size - 1);
	length = length < 0 ? -errno : length;
	(void)close(fd);
	text[length < 0 ? 0 : length] = '\0';
	return length;
}

size_t tree_children(const pid_t **ret_pids)
{
	static char list[LIST_SIZE];
	char path[PROC_PATH_SIZE];
	char *text = NULL;
	size_t size = 0;
	FILE *file;

	/*
	 * Orphans go to the main thread, which is also the one that starts children. The
	 * list is sound although proc(5) warns of it: only a reaped child leaves it, and
	 * nobody reaps while we read.
	 */
	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "re");
	if (file == NULL)
		return tree_children_slow(ret_pids);
	(void)setvbuf(file, list, _IOFBF, sizeof(list));
	found.count = 0;
	while (getdelim(&text, &size, ' ', file) > 0) {
		long pid = strtol(text, NULL, 10);

		if (pid > 0)
			remember((pid_t)pid);
	}
	free(text);
	(void)fclose(file);
	*ret_pids = found.pids;
	return found.count;
}

size_t tree_children_slow(const pid_t **ret_pids)
{
	DIR *directory = opendir("/proc");
	struct tree_process process;
	struct dirent *entry;

	found.count = 0;
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		if (isdigit((unsigned char)entry->d_name[0]) &&
			tree_inspect((pid_t)strtol(entry->d_name, NULL, 10), &process) &&
			process.parent == getpid())
			remember(process.pid);
	}
	if (directory != NULL)
		(void)closedir(directory);
	*ret_pids = found.pids;
	return found.count;
}

/* The number in a field, counted from the one behind the name, which is 3 in proc(5). */
static bool read_field(const char *rest, unsigned int field, long long *ret_number)
{
	char *end;

	for (unsigned int at = 2; at < field; at++) {
		rest = strchr(rest, ' ');
		if (rest == NULL)
			return false;
		rest++;
	}
	*ret_number = strtoll(rest, &end, 10);
	return end != rest;
}

bool tree_parse(const char *text, struct tree_process *ret_process)
{
	/* The name may hold blanks and parentheses; the last one closes it. */
	const char *rest = strrchr(text, ')');
	long long parent, group, session, threads, started;

	if (rest == NULL || rest[1] != ' ' || !read_field(rest, 4, &parent) ||
		!read_field(rest, 5, &group) || !read_field(rest, 6, &session) ||
		!read_field(rest, 20, &threads) || !read_field(rest, 22, &started))
		return false;
	ret_process->pid = (pid_t)strtol(text, NULL, 10);
	ret_process->parent = (pid_t)parent;
	ret_process->group = (pid_t)group;
	ret_process->session = (pid_t)session;
	/* A process whose first thread has ended looks like a zombie while the others work. */
	ret_process->dead = (rest[2] == 'Z' && threads <= 1) || rest[2] == 'X';
	ret_process->started = (double)started * tree_tick();
	return true;
}

bool tree_inspect(pid_t pid, struct tree_process *ret_process)
{
	char path[PROC_PATH_SIZE], text[STAT_SIZE];

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return read_file(path, text, sizeof(text)) > 0 && tree_parse(text, ret_process);
}

bool tree_run(pid_t pid, char ret_digits[TREE_RUN_DIGITS + 1])
{
	char path[PROC_PATH_SIZE];
	char *text = NULL;
	bool known = false;
	size_t size = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	/* Anywhere in it: a shell puts its variables into an order of its own. */
	while (!known && getdelim(&text, &size, '\0', file) > 0)
		known = strncmp(text, TREE_RUN_NAME, strlen(TREE_RUN_NAME)) == 0 &&
			strlen(text) == strlen(TREE_RUN_NAME) + TREE_RUN_DIGITS;
	if (known)
		(void)snprintf(ret_digits, TREE_RUN_DIGITS + 1, "%s", text + strlen(TREE_RUN_NAME));
	free(text);
	(void)fclose(file);
	return known;
}

void tree_finish(void)
{
	free(found.pids);
	found.pids = NULL;
	found.count = found.room = 0;
}
