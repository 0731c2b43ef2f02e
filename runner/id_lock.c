// SPDX-License-Identifier: MIT
/* One file of ids for each process, alive as long as it is locked. */
#include "runner/id_lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <libgen.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/arena.h"
#include "config/kind.h"
#include "probes/clock.h"

#define FAMILY "probity" /* the directory that systemd makes for all units of ours */
#define FILE_NAME "ids"
#define GUARD_NAME "ids.lock" /* held while files are read and written */
#define GUARD_SECONDS 0.2 /* another needs some ms, unless it was stopped just then */
#define MOST_BYTES (16 << 20) /* 10,000 ids of 512 bytes are a third of it */

struct id_lock {
	char *base; /* what all daemons of the host are in */
	char *path; /* of our file */
	json_t *holders; /* who else holds what, by id */
	int fd; /* of it, locked; -1: nothing is held */
};

struct id_lock *id_lock_create(const char *runtime_dir)
{
	struct id_lock *lock = xcalloc(1, sizeof(*lock));
	char *whole = realpath(runtime_dir, NULL);
	char *own = whole != NULL ? whole : xstrdup(runtime_dir);
	char *copy = xstrdup(own), *name = xstrdup(dirname(copy));

	lock->path = xprintf("%s/%s", own, FILE_NAME);
	lock->base = strcmp(basename(name), FAMILY) == 0 ? xstrdup(copy) : xstrdup(own);
	lock->holders = json_object();
	lock->fd = -1;
	free(name);
	free(copy);
	free(own);
	return lock;
}

void id_lock_destroy(struct id_lock *lock)
{
	if (lock == NULL)
		return;
	if (lock->fd >= 0) {
		(void)unlink(lock->path); /* before the lock goes */
		(void)close(lock->fd);
	}
	json_decref(lock->holders);
	free(lock->base);
	free(lock->path);
	free(lock);
}

/* A descriptor that holds the guard, or negative errno. */
static int enter(const struct id_lock *lock)
{
	char *path = xprintf("%s/%s", lock->base, GUARD_NAME);
	int result = 0, fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	double end = clock_monotonic() + GUARD_SECONDS;

	/* Who runs as another user may hold what root has made. */
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		result = -errno;
	else
		(void)fchmod(fd, 0644); /* whatever the umask; only who made it can */
	free(path);
	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		result = -errno;
		if (result == -EWOULDBLOCK && clock_monotonic() < end) {
			(void)sched_yield();
			continue;
		}
		(void)close(fd);
		fd = -1;
	}
	return fd >= 0 ? fd : result;
}

/* What a living daemon holds; NULL where there is none, or what is there is not one's file. */
static json_t *read_holder(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;
	json_t *holder = NULL;
	bool alive;

	if (fd < 0)
		return NULL;
	alive = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	if (alive && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
		status.st_size <= MOST_BYTES)
		holder = json_loadfd(fd, JSON_REJECT_DUPLICATES, NULL);
	(void)close(fd);
	return holder;
}

/* Its ids, each with who holds it. */
static void note_ids(json_t *holders, const json_t *holder)
{
	const json_t *id, *ids = json_object_get(holder, "ids");
	const char *config = json_string_value(json_object_get(holder, "configuration"));
	json_int_t pid = json_integer_value(json_object_get(holder, "pid"));
	char *text = xprintf("another probity that runs, pid %lld with the configuration %s",
		(long long)pid, config == NULL ? "?" : config);
	json_t *shared = json_string(text);
	size_t i;

	json_array_foreach (ids, i, id) {
		if (json_is_string(id))
			(void)json_object_set(holders, json_string_value(id), shared);
	}
	json_decref(shared);
	free(text);
}

static void note_file(const struct id_lock *lock, const char *path)
{
	json_t *holder = strcmp(path, lock->path) == 0 ? NULL : read_holder(path);

	if (holder != NULL)
		note_ids(lock->holders, holder);
	json_decref(holder);
}

void id_lock_look(struct id_lock *lock)
{
	char *path = xprintf("%s/%s", lock->base, FILE_NAME);
	DIR *dir = opendir(lock->base);
	const struct dirent *entry;

	(void)json_object_clear(lock->holders);
	note_file(lock, path);
	free(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' ||
			(entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		path = xprintf("%s/%s/%s", lock->base, entry->d_name, FILE_NAME);
		note_file(lock, path);
		free(path);
	}
	if (dir != NULL)
		(void)closedir(dir);
}

const char *id_lock_holder(const struct id_lock *lock, const char *check_id)
{
	return json_string_value(json_object_get(lock->holders, check_id));
}

/* Our file, opened and locked for good. 0 or negative errno. */
static int hold(struct id_lock *lock)
{
	int fd, result;

	if (lock->fd >= 0)
		return 0;
	fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		result = -errno;
		(void)close(fd);
		return result;
	}
	(void)fchmod(fd, 0644); /* so that those of other users can see whose an id is */
	lock->fd = fd;
	return 0;
}

static int write_file(struct id_lock *lock, const struct settings *settings)
{
	json_t *ids = json_array(), *root;
	int result = hold(lock);

	for (size_t i = 0; i < settings->check_count; i++)
		(void)json_array_append_new(ids, json_string(settings->checks[i].id));
	root = json_pack("{s:I, s:s, s:o}", "pid", (json_int_t)getpid(), "configuration",
		settings->path, "ids", ids);
	errno = 0; /* jansson sets it only where write(2) does */
	if (result == 0 &&
		(ftruncate(lock->fd, 0) != 0 || lseek(lock->fd, 0, SEEK_SET) < 0 ||
			json_dumpfd(root, lock->fd, JSON_COMPACT) != 0))
		result = errno != 0 ? -errno : -EIO;
	json_decref(root);
	return result;
}

bool id_lock_take(struct id_lock *lock, const struct settings *settings, struct conf_diag *diag,
	char **ret_problem)
{
	static const struct settings nothing = {.path = ""};
	const struct settings *wanted = settings->consul.address.off ? &nothing : settings;
	int guard = enter(lock), result = 0;
	bool fine = true;

	id_lock_look(lock);
	for (size_t i = 0; i < wanted->check_count; i++) {
		const struct check_conf *check = &wanted->checks[i];
		const char *holder = id_lock_holder(lock, check->id);

		if (holder == NULL)
			continue;
		fine = false;
		diag_add(diag, check->mark, CONF_ERROR, ID_LOCK_TEXT, field_shown(check->id),
			holder);
	}
	(void)json_object_clear(lock->holders); /* up to megabytes, of use at loads only */
	if (fine)
		result = write_file(lock, wanted);
	if (guard >= 0)
		(void)close(guard);
	else if (result == 0)
		result = guard;
	if (result < 0)
		*ret_problem = xprintf("%s: another probity that publishes the same checks might "
				       "not be noticed: %s",
			lock->path, strerror(-result));
	return fine;
}
