// SPDX-License-Identifier: MIT
/* One new process: everything is prepared before, and the child makes system calls only. */
#include "probes/child_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config/arena.h"

/* The 16-bit calls of old architectures cannot say every id. */
#ifdef SYS_setresuid32
#define CALL_SETGROUPS SYS_setgroups32
#define CALL_SETRESGID SYS_setresgid32
#define CALL_SETRESUID SYS_setresuid32
#else
#define CALL_SETGROUPS SYS_setgroups
#define CALL_SETRESGID SYS_setresgid
#define CALL_SETRESUID SYS_setresuid
#endif

/* What the steps of the child need; it lives in the parent, which stands still meanwhile. */
struct plan {
	const struct child_spec *spec;
	const char **envp;
	int output;
};

/* What a child reports through the pipe. */
struct report {
	size_t step; /* index into steps */
	int error;
};

static long step_session(const struct plan *plan);
static long step_signals(const struct plan *plan);
static long step_descriptors(const struct plan *plan);
static long step_close(const struct plan *plan);
static long step_oom(const struct plan *plan);
static long step_limits(const struct plan *plan);
static long step_nice(const struct plan *plan);
static long step_groups(const struct plan *plan);
static long step_group(const struct plan *plan);
static long step_user(const struct plan *plan);
static long step_privileges(const struct plan *plan);
static long step_directory(const struct plan *plan);
static long step_mask(const struct plan *plan);
static long step_execute(const struct plan *plan);

/* In this order: limits and nice value while we may still raise them, the directory with the rights
 * of the user.
 */
static const struct {
	const char *name;
	long (*run)(const struct plan *plan); /* negative: failed, errno says why */
} steps[] = {
	{"setsid", step_session},
	{"sigaction", step_signals},
	{"dup", step_descriptors},
	{"close_range", step_close},
	{"oom_score_adj", step_oom},
	{"setrlimit", step_limits},
	{"nice", step_nice},
	{"setgroups", step_groups},
	{"setgid", step_group},
	{"setuid", step_user},
	{"no_new_privs", step_privileges},
	{"chdir", step_directory},
	{"sigprocmask", step_mask},
	{"execve", step_execute},
};

static struct {
	int null; /* /dev/null, every child's standard input */
	int report[2]; /* close-on-exec: a child that runs has said nothing */
	int dumpable;
	bool spared; /* the kernel takes us last where memory is out */
	struct rlimit descriptors; /* as probity was given it */
} spawn = {.null = -1, .report = {-1, -1}};

#define OOM_FILE "/proc/self/oom_score_adj" /* proc(5): below 0 is spared */

/* The child runs on it while the parent waits: one is enough, and its frames are small. */
static _Alignas(16) unsigned char stack[32 * 1024];

/* A pipe that became descriptor 1 would be lost in the child's dup(). */
static int open_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR); /* NOLINT: not close-on-exec, as 0 to 2 are */
		if (fd < 0)
			return -errno;
	} while (fd <= STDERR_FILENO);
	(void)close(fd);
	return 0;
}

/* Where it cannot be read it cannot be written either, and nothing is known to be undone. */
static bool is_spared(void)
{
	char sign = '0';
	int fd = open(OOM_FILE, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!read(fd, &sign, 1);
		(void)close(fd);
	}
	return sign == '-';
}

int spawn_setup(void)
{
	int result = open_standard_descriptors();

	if (result < 0)
		return result;
	if (getrlimit(RLIMIT_NOFILE, &spawn.descriptors) != 0)
		return -errno;
	spawn.spared = is_spared();
	spawn.dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	spawn.null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (spawn.null < 0 || pipe2(spawn.report, O_CLOEXEC | O_NONBLOCK) != 0) {
		result = -errno;
		spawn_finish();
	}
	return result;
}

static void close_descriptor(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void spawn_finish(void)
{
	close_descriptor(&spawn.null);
	close_descriptor(&spawn.report[0]);
	close_descriptor(&spawn.report[1]);
}

/*
 * The child. It shares our memory until it executes, so it writes to none: no
 * function here allocates, locks or formats. Ids are set by the bare calls, since
 * those of the library change all threads of the program, which are ours.
 */

static long step_session(const struct plan *plan)
{
	(void)plan;
	return syscall(SYS_setsid);
}

static long step_signals(const struct plan *plan)
{
	static const struct sigaction standard = {.sa_handler = SIG_DFL};

	(void)plan;
	for (int number = 1; number < NSIG; number++) {
		/* Refused for KILL, STOP and the library's own: these are never ignored. */
		(void)sigaction(number, &standard, NULL);
	}
	return 0;
}

static long step_descriptors(const struct plan *plan)
{
	int input = plan->spec->input > 0 ? plan->spec->input : spawn.null;

	if (syscall(SYS_dup3, input, STDIN_FILENO, 0) < 0)
		return -1;
	if (syscall(SYS_dup3, plan->output, STDOUT_FILENO, 0) < 0)
		return -1;
	return syscall(SYS_dup3, plan->output, STDERR_FILENO, 0);
}

static long step_close(const struct plan *plan)
{
	(void)plan;
	return syscall(SYS_close_range, STDERR_FILENO + 1, UINT32_MAX, CLOSE_RANGE_CLOEXEC);
}

/*
 * Our own protection is for what watches, not for what a script eats. It is a process's own
 * here, although memory is shared: the kernel makes an exception for vfork.
 */
static long step_oom(const struct plan *plan)
{
	long fd, result;

	(void)plan;
	if (!spawn.spared)
		return 0;
	fd = syscall(SYS_openat, AT_FDCWD, OOM_FILE, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	result = syscall(SYS_write, fd, "0", 1);
	(void)syscall(SYS_close, fd);
	return result;
}

static long step_limits(const struct plan *plan)
{
	const struct child_spec *spec = plan->spec;

	if (setrlimit(RLIMIT_NOFILE, &spawn.descriptors) != 0)
		return -1;
	for (size_t i = 0; i < spec->limit_count; i++) {
		const struct rlimit limit = {
			.rlim_cur = spec->limits[i].soft, .rlim_max = spec->limits[i].hard};

		if (setrlimit((__rlimit_resource_t)spec->limits[i].resource, &limit) != 0)
			return -1;
	}
	return 0;
}

static long step_nice(const struct plan *plan)
{
	const struct child_spec *spec = plan->spec;

	return spec->set_nice ? syscall(SYS_setpriority, PRIO_PROCESS, 0, spec->nice) : 0;
}

static long step_groups(const struct plan *plan)
{
	const struct child_spec *spec = plan->spec;

	return spec->set_ids ? syscall(CALL_SETGROUPS, spec->group_count, spec->groups) : 0;
}

static long step_group(const struct plan *plan)
{
	const struct child_spec *spec = plan->spec;

	return spec->set_ids ? syscall(CALL_SETRESGID, spec->gid, spec->gid, spec->gid) : 0;
}

static long step_user(const struct plan *plan)
{
	const struct child_spec *spec = plan->spec;

	return spec->set_ids ? syscall(CALL_SETRESUID, spec->uid, spec->uid, spec->uid) : 0;
}

static long step_privileges(const struct plan *plan)
{
	return plan->spec->no_new_privs ? syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) : 0;
}

static long step_directory(const struct plan *plan)
{
	(void)syscall(SYS_umask, plan->spec->umask);
	return syscall(SYS_chdir, plan->spec->cwd == NULL ? "/" : plan->spec->cwd);
}

static long step_mask(const struct plan *plan)
{
	sigset_t none;

	(void)plan;
	(void)sigemptyset(&none);
	return sigprocmask(SIG_SETMASK, &none, NULL);
}

static long step_execute(const struct plan *plan)
{
	return syscall(SYS_execve, plan->spec->path, plan->spec->argv, plan->envp);
}

/* Returning ends the child without any of our exit handlers. */
static int run_child(void *argument)
{
	const struct plan *plan = argument;
	struct report report = {0};

	while (steps[report.step].run(plan) >= 0)
		report.step++; /* the last one does not come back with success */
	report.error = errno;
	(void)syscall(SYS_write, spawn.report[1], &report, sizeof(report));
	return 127; /* as a shell says that it could not start something */
}

/* The parent. */

static const char **join_environment(const char *const *envp, const char *run)
{
	size_t count = 0;
	const char **joined;

	while (envp[count] != NULL)
		count++;
	joined = xcalloc(count + 2, sizeof(*joined));
	joined[0] = run;
	for (size_t i = 0; i < count; i++)
		joined[i + 1] = envp[i];
	return joined;
}

/* Returns the pid, or -1 with errno. */
static pid_t clone_child(struct plan *plan)
{
	sigset_t all, before;
	pid_t pid;
	int error;

	/*
	 * A handler of ours must not run in the child, in our memory; it drops them all
	 * before it lets signals in. The parent stands still for less than a
	 * millisecond; what arrives meanwhile is delivered after.
	 */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	pid = clone(run_child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, plan);
	error = errno;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	/* A change of ids in shared memory takes our core dumps away: credentials(7). */
	if (pid > 0 && plan->spec->set_ids && spawn.dumpable == 1)
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	errno = error;
	return pid;
}

static pid_t fail(struct spawn_failure *failure, const char *step, int error)
{
	failure->step = step;
	failure->error = error;
	return -1;
}

pid_t spawn_start(const struct child_spec *spec, const char *run, int *ret_output,
	struct spawn_failure *ret_failure)
{
	struct plan plan = {.spec = spec};
	struct report report;
	int ends[2];
	pid_t pid;
	int error;

	/* One pipe for both streams: nobody can block on the one we do not read, and order stays.
	 */
	if (pipe2(ends, O_CLOEXEC) != 0)
		return fail(ret_failure, "pipe", errno);
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
		error = errno;
		(void)close(ends[0]);
		(void)close(ends[1]);
		return fail(ret_failure, "fcntl", error);
	}
	plan.output = ends[1];
	plan.envp = join_environment(spec->envp, run);
	pid = clone_child(&plan);
	error = errno;
	free(plan.envp);
	(void)close(ends[1]);
	if (pid < 0) {
		(void)close(ends[0]);
		return fail(ret_failure, "fork", error);
	}
	/* The child has executed or is gone by now, so its report is here if there is one. */
	if (read(spawn.report[0], &report, sizeof(report)) == (ssize_t)sizeof(report)) {
		(void)close(ends[0]);
		return fail(ret_failure, steps[report.step].name, report.error);
	}
	*ret_output = ends[0];
	return pid;
}
