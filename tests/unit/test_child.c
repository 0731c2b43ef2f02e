// SPDX-License-Identifier: MIT
/* Children from start to verdict: what they inherit, what they say, how they end. */
#include "tests/unit/child_bench.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "probes/child_spawn.h"

#define REPORT "--report" /* this program as the child: see report() */

/* Says what a child has been given, without opening anything before it has looked. */
static int report(void)
{
	char extra[4096] = "", bytes[64], line[256];
	size_t length = 0, used = 0;
	struct rlimit limit;
	mode_t mask = umask(0);
	FILE *file;
	ssize_t got;

	for (int fd = 3; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			used += (size_t)snprintf(extra + used, sizeof(extra) - used, "%d ", fd);
	}
	while ((got = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
		length += (size_t)got;
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	(void)printf("stdin=%zu extra=[%s] session=%d group=%d umask=%03o files=%llu uid=%d gid=%d "
		     "groups=%d cwd=%s\n",
		length, extra, getsid(0) == getpid(), getpgrp() == getpid(), mask,
		(unsigned long long)limit.rlim_cur, (int)getuid(), (int)getgid(),
		getgroups(0, NULL), getcwd(line, sizeof(line)));
	file = fopen("/proc/self/status", "r");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, "Sig", 3) == 0 || strncmp(line, "NoNewPrivs", 10) == 0)
			(void)fputs(line, stdout);
	}
	if (file != NULL)
		(void)fclose(file);
	for (char **entry = environ; *entry != NULL; entry++)
		(void)printf("env %.12s\n", *entry);
	return fflush(stdout);
}

static struct child_spec report_spec(void)
{
	static const char *const argv[] = {"report", REPORT, NULL};
	static const char *const envp[] = {"ONLY=this", "ASAN_OPTIONS=detect_leaks=0", NULL};

	return (struct child_spec){
		.path = "/proc/self/exe", .argv = argv, .envp = envp, .umask = 027};
}

static void run_report(struct seen *seen, const struct child_spec *spec)
{
	start(seen, spec, NULL);
	wait_over(seen);
	assert_int_equal(seen->failures, 0);
	assert_int_equal(seen->value, 0);
}

static void test_a_child_inherits_nothing(void **state)
{
	struct child_spec spec = report_spec();
	sigset_t blocked, before;
	struct seen seen;
	int loose[2], input[2], saved = dup(STDIN_FILENO);

	(void)state;
	/* A daemon as bad as can be: descriptors without close-on-exec, signals blocked and
	 * ignored. */
	assert_int_equal(pipe(loose), 0);
	assert_int_equal(dup2(loose[0], 700), 700);
	assert_int_equal(pipe(input), 0);
	assert_int_equal(write(input[1], "TOPSECRET", 9), 9);
	assert_int_equal(dup2(input[0], STDIN_FILENO), STDIN_FILENO);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGRTMIN + 3, SIG_IGN);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGUSR1);
	assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
	run_report(&seen, &spec);
	assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &blocked), 0);
	assert_true(sigismember(&blocked, SIGTERM));
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
	assert_non_null(strstr(text_of(&seen), "stdin=0 extra=[] session=1 group=1 umask=027"));
	assert_non_null(strstr(text_of(&seen), "cwd=/\n"));
	assert_non_null(strstr(text_of(&seen), "SigBlk:\t0000000000000000"));
	assert_non_null(strstr(text_of(&seen), "SigIgn:\t0000000000000000"));
	assert_non_null(strstr(text_of(&seen), "NoNewPrivs:\t0"));
	assert_non_null(strstr(text_of(&seen), "env PROBITY_RUN=\n"));
	assert_non_null(strstr(text_of(&seen), "env ONLY=this\n"));
	assert_null(strstr(text_of(&seen), "env PATH"));
	forget(&seen);
	(void)signal(SIGHUP, SIG_DFL);
	(void)signal(SIGRTMIN + 3, SIG_DFL);
	assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
	for (int fd = 0; fd < 2; fd++) {
		(void)close(loose[fd]);
		(void)close(input[fd]);
	}
	(void)close(700);
	(void)close(saved);
}

/* Lowering it takes a right that root in a container may lack: what ours is said to be is made up.
 */
static const char *oom_said;
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
	int ends[2];

	if (oom_said == NULL || strcmp(path, "/proc/self/oom_score_adj") != 0)
		return __real_open(path, flags);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], oom_said, strlen(oom_said)), (ssize_t)strlen(oom_said));
	(void)close(ends[1]);
	return ends[0];
}

static void check_oom_of_a_child(const char *said, const char *wanted)
{
	char line[32] = "";
	struct seen seen;
	FILE *file;

	oom_said = said;
	spawn_finish();
	assert_int_equal(spawn_setup(), 0);
	oom_said = NULL;
	start_shell(&seen, "cat /proc/self/oom_score_adj", 1, NULL);
	wait_over(&seen);
	assert_string_equal(text_of(&seen), wanted);
	forget(&seen);
	file = fopen("/proc/self/oom_score_adj", "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_int_equal(fclose(file), 0);
	assert_string_equal(line, "300\n");
}

static void test_a_child_is_not_spared_when_memory_is_out(void **state)
{
	FILE *file = fopen("/proc/self/oom_score_adj", "r+");
	int before = 0;

	(void)state;
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &before), 1); /* NOLINT: one small number */
	if (before < 0 || before > 300) {
		(void)fclose(file);
		skip();
	}
	rewind(file);
	assert_true(fputs("300", file) >= 0);
	assert_int_equal(fflush(file), 0);
	check_oom_of_a_child("-500\n", "0");
	check_oom_of_a_child("300\n", "300"); /* what somebody put on us stays */
	rewind(file);
	assert_true(fprintf(file, "%d", before) > 0);
	assert_int_equal(fclose(file), 0);
	spawn_finish();
	assert_int_equal(spawn_setup(), 0);
}

static void test_what_is_asked_for_is_set(void **state)
{
	const struct child_limit limits[] = {{RLIMIT_NOFILE, 77, 77}};
	const gid_t groups[] = {12, 34};
	struct child_spec spec = report_spec();
	char path[4096], wanted[256];
	struct rlimit before, low;
	struct seen seen;
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_true(length > 0);
	path[length] = '\0';
	spec.path = path;
	spec.cwd = "/usr";
	spec.no_new_privs = true;
	/* Ours is raised for the sake of sockets; scripts get what we were given. */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = (struct rlimit){.rlim_cur = 1024, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	run_report(&seen, &spec);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	(void)snprintf(wanted, sizeof(wanted), "files=%llu ", (unsigned long long)before.rlim_cur);
	assert_non_null(strstr(text_of(&seen), wanted));
	assert_non_null(strstr(text_of(&seen), "cwd=/usr\n"));
	assert_non_null(strstr(text_of(&seen), "NoNewPrivs:\t1"));
	forget(&seen);

	spec.limits = limits;
	spec.limit_count = 1;
	if (geteuid() == 0) {
		spec.set_ids = true;
		spec.uid = 0; /* another user might not get to this program */
		spec.gid = 65533;
		spec.groups = groups;
		spec.group_count = 2;
	}
	run_report(&seen, &spec);
	assert_non_null(strstr(text_of(&seen), "files=77 "));
	if (geteuid() == 0)
		assert_non_null(strstr(text_of(&seen), "uid=0 gid=65533 groups=2 "));
	forget(&seen);
}

static void test_another_user_is_another_user(void **state)
{
	const char *const argv[] = {"sh", "-c", "id -u; id -G; kill -0 $PPID && echo may", NULL};
	const struct child_spec spec = {.path = "/bin/sh",
		.argv = argv,
		.envp = environment,
		.set_ids = true,
		.uid = 65534,
		.gid = 65534};
	struct seen seen;

	(void)state;
	if (geteuid() != 0)
		skip();
	start(&seen, &spec, NULL);
	wait_over(&seen);
	assert_true(strncmp(text_of(&seen), "65534\n65534\n", 12) == 0);
	assert_null(strstr(text_of(&seen), "\nmay"));
	forget(&seen);
}

static void test_exit_codes_and_signals(void **state)
{
	static const struct {
		const char *text;
		enum child_end end;
		int value;
	} rows[] = {
		{"exit 0", CHILD_EXITED, 0},
		{"exit 1", CHILD_EXITED, 1},
		{"exit 255", CHILD_EXITED, 255},
		{"kill -SEGV $$", CHILD_KILLED, SIGSEGV},
		{"kill -KILL $$", CHILD_KILLED, SIGKILL},
		{"kill -HUP $$", CHILD_KILLED, SIGHUP},
		{"kill -PIPE $$", CHILD_KILLED, SIGPIPE},
		{"kill -CHLD $$; exit 3", CHILD_EXITED, 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct seen seen;

		run_shell(&seen, rows[i].text);
		assert_int_equal(seen.ends, 1);
		assert_int_equal(seen.end, rows[i].end);
		assert_int_equal(seen.value, rows[i].value);
		forget(&seen);
	}
	wait_gone();
}

static void test_output_of_both_streams_in_order(void **state)
{
	struct seen seen;

	(void)state;
	run_shell(&seen, "echo 1; echo 2 >&2; echo 3; echo 4 >&2; printf 5");
	assert_string_equal(text_of(&seen), "1\n2\n3\n4\n5");
	forget(&seen);
}

static void test_a_flood_on_stderr_blocks_nobody(void **state)
{
	struct seen seen;

	(void)state;
	run_shell(&seen, "head -c 1048576 /dev/zero | tr '\\0' e >&2; echo ready");
	assert_int_equal(seen.value, 0);
	assert_int_equal(seen.output.total, 1048576 + 6);
	assert_non_null(strstr(text_of(&seen), "eeeready"));
	forget(&seen);
}

static unsigned int ticks;

static void on_tick(struct ev_loop *the_loop, ev_timer *watcher, int events)
{
	(void)the_loop;
	(void)watcher;
	(void)events;
	ticks++;
}

static void test_300_megabytes_are_read_while_others_get_their_turn(void **state)
{
	struct seen seen;
	ev_timer tick;

	(void)state;
	ticks = 0;
	ev_timer_init(&tick, on_tick, 0.01, 0.01);
	ev_timer_start(loop, &tick);
	start_shell(&seen, "head -c 300000000 /dev/zero; exit 1", 1, NULL);
	/* wait_over is a timer beside it as well: each of its turns is over in its time. */
	wait_over(&seen);
	ev_timer_stop(loop, &tick);
	assert_int_equal(seen.end, CHILD_EXITED);
	assert_int_equal(seen.value, 1);
	assert_int_equal(seen.output.total, 300000000);
	assert_true(ticks >= (seen.at - seen.started) / 0.2);
	forget(&seen);
}

static void test_a_child_that_closes_its_output_is_waited_for(void **state)
{
	struct seen seen;

	(void)state;
	run_shell(&seen, "echo said; exec >&- 2>&-; sleep 0.4; exit 1");
	assert_true(seen.at - seen.started >= 0.4);
	assert_int_equal(seen.value, 1);
	assert_string_equal(text_of(&seen), "said");
	forget(&seen);
}

static unsigned int count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned int count = 0;

	while (readdir(directory) != NULL)
		count++;
	(void)closedir(directory);
	return count;
}

static void test_a_thousand_runs_leave_nothing(void **state)
{
	const char *const argv[] = {"true", NULL};
	const struct child_spec spec = {.path = "/bin/true", .argv = argv, .envp = environment};
	unsigned int before = 0;
	struct seen seen;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		start(&seen, &spec, NULL);
		while (!is_over(&seen))
			ev_run(loop, EVRUN_ONCE);
		assert_int_equal(seen.value, 0);
		forget(&seen);
		assert_int_equal(child_count(), 0);
		if (i == 0)
			before = count_descriptors();
	}
	assert_int_equal(count_descriptors(), before);
	/* Not even a dead one. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_child_inherits_nothing),
		cmocka_unit_test(test_a_child_is_not_spared_when_memory_is_out),
		cmocka_unit_test(test_what_is_asked_for_is_set),
		cmocka_unit_test(test_another_user_is_another_user),
		cmocka_unit_test(test_exit_codes_and_signals),
		cmocka_unit_test(test_output_of_both_streams_in_order),
		cmocka_unit_test(test_a_flood_on_stderr_blocks_nobody),
		cmocka_unit_test(test_300_megabytes_are_read_while_others_get_their_turn),
		cmocka_unit_test(test_a_child_that_closes_its_output_is_waited_for),
		cmocka_unit_test(test_a_thousand_runs_leave_nothing),
	};

	if (argc > 1 && strcmp(argv[1], REPORT) == 0)
		return report();
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
