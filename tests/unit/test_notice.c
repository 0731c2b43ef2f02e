// SPDX-License-Identifier: MIT
/* Notices reach whoever is set, and nobody else. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "probes/notice.h"

static char heard[64];
static int calls;

static void hear(const char *text)
{
	calls++;
	(void)snprintf(heard, sizeof(heard), "%s", text);
}

static void a_notice_reaches_the_hook(void **unused)
{
	(void)unused;
	notice_set(hear);
	notice("a tree of %d survives", 3);
	assert_int_equal(calls, 1);
	assert_string_equal(heard, "a tree of 3 survives");
}

static void without_a_hook_nothing_happens(void **unused)
{
	(void)unused;
	calls = 0;
	notice_set(NULL);
	notice("unheard");
	assert_int_equal(calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_notice_reaches_the_hook),
		cmocka_unit_test(without_a_hook_nothing_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
