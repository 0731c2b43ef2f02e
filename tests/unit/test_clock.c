// SPDX-License-Identifier: MIT
/* Time goes forward, fractions stay below one, and no randomness is no start. */
#include "tests/unit/unit.h"

#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probes/clock.h"

static int random_byte = -1; /* what the kernel gives; -1: truly random, -2: nothing */

ssize_t __real_getrandom(void *bytes, size_t length, unsigned int flags);
ssize_t __wrap_getrandom(void *bytes, size_t length, unsigned int flags);

ssize_t __wrap_getrandom(void *bytes, size_t length, unsigned int flags)
{
	if (random_byte == -1)
		return __real_getrandom(bytes, length, flags);
	if (random_byte == -2)
		return -1;
	memset(bytes, random_byte, length);
	return (ssize_t)length;
}

static void clocks_are_the_kernel_s(void **unused)
{
	double monotonic = clock_monotonic(), boot = clock_boot();

	(void)unused;
	assert_true(clock_monotonic() >= monotonic);
	assert_true(clock_boot() >= boot);
	assert_true(boot >= monotonic - 0.001); /* it counts suspends on top */
	assert_true(clock_wall() - (double)time(NULL) < 2);
	assert_true(clock_wall() - (double)time(NULL) > -2);
}

static void a_fraction_is_never_one(void **unused)
{
	(void)unused;
	random_byte = 0xff;
	assert_true(clock_fraction() < 1);
	assert_true(clock_fraction() > 0.999999);
	random_byte = 0;
	assert_true(clock_fraction() >= 0);
	assert_true(clock_fraction() < 1e-15);
	random_byte = -1;
	for (int i = 0; i < 1000; i++) {
		double fraction = clock_fraction();

		assert_true(fraction >= 0 && fraction < 1);
	}
}

static void random_bytes_differ(void **unused)
{
	unsigned char a[16], b[16];

	(void)unused;
	random_byte = -1;
	clock_random(a, sizeof(a));
	clock_random(b, sizeof(b));
	assert_memory_not_equal(a, b, sizeof(a));
}

/* Markers of children must not be guessable: without randomness there is no going on. */
static void without_randomness_it_aborts(void **unused)
{
	int status = 0;
	pid_t pid = fork();

	(void)unused;
	if (pid == 0) {
		unsigned char byte;

		(void)close(STDERR_FILENO);
		(void)signal(SIGABRT, SIG_DFL);
		random_byte = -2;
		clock_random(&byte, 1);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_are_the_kernel_s),
		cmocka_unit_test(a_fraction_is_never_one),
		cmocka_unit_test(random_bytes_differ),
		cmocka_unit_test(without_randomness_it_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
