// SPDX-License-Identifier: MIT
/* The state file: JSON, replaced by rename, good for one boot. */
#include "runner/state.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/arena.h"

#define STATE_NAME "state.json"
#define STATE_FORMAT 1 /* raised when a member changes its meaning: an unknown one is not read */
#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"

struct state {
	json_t *checks;
};

struct state_writer {
	json_t *root;
	json_t *checks; /* borrowed from root */
};

/* The kernel's name for this boot, "" if it has none. */
static void read_boot_id(char *id, size_t size)
{
	int fd = open(BOOT_ID_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, id, size - 1);

	if (fd >= 0)
		(void)close(fd);
	id[length > 0 ? length : 0] = '\0';
	id[strcspn(id, "\n")] = '\0';
}

static struct state *adopt(json_t *root, char **ret_problem)
{
	char boot_id[64];
	const char *written_in = NULL;
	json_t *checks = NULL;
	struct state *state;
	int format = 0;

	read_boot_id(boot_id, sizeof(boot_id));
	if (json_unpack(root, "{s:i, s:s, s:o}", "format", &format, "boot_id", &written_in,
		    "checks", &checks) != 0 ||
		format != STATE_FORMAT || !json_is_object(checks)) {
		*ret_problem = xstrdup("not written by this version of probity");
		return NULL;
	}
	/* After a boot the services are new as well: what was true of them is not. */
	if (*boot_id == '\0' || strcmp(written_in, boot_id) != 0)
		return NULL;
	state = xcalloc(1, sizeof(*state));
	state->checks = json_incref(checks);
	return state;
}

struct state *state_load(const char *dir, char **ret_problem)
{
	char *path = xprintf("%s/%s", dir, STATE_NAME);
	json_error_t error;
	json_t *root;
	struct state *state = NULL;

	*ret_problem = NULL;
	if (access(path, F_OK) == 0) {
		root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
		if (root == NULL)
			*ret_problem = xprintf("%s: %s", path, error.text);
		else
			state = adopt(root, ret_problem);
		json_decref(root);
	}
	free(path);
	return state;
}

void state_destroy(struct state *state)
{
	if (state == NULL)
		return;
	json_decref(state->checks);
	free(state);
}

static bool parse_status(const char *name, enum probe_status *ret_status)
{
	for (enum probe_status status = PROBE_PASSING; status <= PROBE_CRITICAL; status++) {
		if (strcmp(name, status_name(status)) == 0) {
			*ret_status = status;
			return true;
		}
	}
	return false;
}

bool state_find(const struct state *state, const char *check_id, struct threshold_state *ret_state)
{
	struct threshold_state found = {.has_status = true};
	const char *status;
	int successes, failures;
	json_t *entry = state == NULL ? NULL : json_object_get(state->checks, check_id);

	if (entry == NULL ||
		json_unpack(entry, "{s:s, s:i, s:i}", "status", &status, "successes", &successes,
			"failures", &failures) != 0 ||
		!parse_status(status, &found.status) || successes < 0 || failures < 0)
		return false;
	found.successes = (unsigned int)successes;
	found.failures = (unsigned int)failures;
	*ret_state = found;
	return true;
}

struct state_writer *state_writer_create(void)
{
	struct state_writer *writer = xcalloc(1, sizeof(*writer));
	char boot_id[64];

	read_boot_id(boot_id, sizeof(boot_id));
	writer->checks = json_object();
	writer->root = json_pack("{s:i, s:s, s:o}", "format", STATE_FORMAT, "boot_id", boot_id,
		"checks", writer->checks);
	return writer;
}

void state_add(
	struct state_writer *writer, const char *check_id, const struct threshold_state *state)
{
	/* Without a status there is nothing to go on from. */
	if (!state->has_status)
		return;
	(void)json_object_set_new(writer->checks, check_id,
		json_pack("{s:s, s:i, s:i}", "status", status_name(state->status), "successes",
			(int)state->successes, "failures", (int)state->failures));
}

int state_save(struct state_writer *take_writer, const char *dir)
{
	char *path = xprintf("%s/%s", dir, STATE_NAME);
	char *temporary = xprintf("%s/%s.new", dir, STATE_NAME);
	int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int result = fd < 0 ? -errno : 0;

	/* No fsync: the directory is in memory, and a torn file after a crash is of another boot.
	 */
	errno = 0; /* jansson sets it only where write(2) does */
	if (result == 0 && json_dumpfd(take_writer->root, fd, JSON_COMPACT) != 0)
		result = errno != 0 ? -errno : -EIO;
	if (fd >= 0 && close(fd) != 0 && result == 0)
		result = -errno;
	if (result == 0 && rename(temporary, path) != 0)
		result = -errno;
	free(temporary);
	free(path);
	json_decref(take_writer->root);
	free(take_writer);
	return result;
}
