// SPDX-License-Identifier: MIT
/* Any text as a duration, a size and a host: it is refused, or means what it prints as. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "config/hostport.h"
#include "config/suggest.h"
#include "config/units.h"
#include "fuzz.h"

static void check_duration(const char *text)
{
	char printed[UNITS_DURATION_SIZE];
	double seconds = -1, back = -1;

	if (units_parse_duration(text, &seconds) != NULL) {
		FUZZ_HOLDS(seconds < 0);
		return;
	}
	FUZZ_HOLDS(seconds >= 0 && isfinite(seconds));
	units_print_duration(seconds, printed, sizeof(printed));
	FUZZ_HOLDS(units_parse_duration(printed, &back) == NULL);
	/* It prints whole microseconds, and a double of this size holds no more. */
	if (seconds <= UNITS_DURATION_MAX)
		FUZZ_HOLDS(fabs(back - seconds) <= 1e-6);
}

static void check_size(const char *text)
{
	char printed[UNITS_SIZE_SIZE];
	double bytes = -1, back = -1;

	if (units_parse_size(text, &bytes) != NULL) {
		FUZZ_HOLDS(bytes < 0);
		return;
	}
	FUZZ_HOLDS(bytes >= 0 && isfinite(bytes));
	if (bytes > UNITS_SIZE_MAX)
		return;
	units_print_size(bytes, printed, sizeof(printed));
	FUZZ_HOLDS(units_parse_size(printed, &back) != NULL || back == bytes);
}

static void check_host(const char *text)
{
	struct arena *arena = arena_create();
	struct hostport place = {0};

	if (hostport_parse(arena, text, &place) == NULL) {
		FUZZ_HOLDS(place.host != NULL && *place.host != '\0' && place.port <= 65535);
		FUZZ_HOLDS(strpbrk(place.host, " /?#@[]%\r\n") == NULL);
	}
	arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	char *text = xcalloc(length + 1, 1);
	struct suggest suggest;

	memcpy(text, bytes, length);
	check_duration(text);
	check_size(text);
	check_host(text);
	suggest_init(&suggest, text);
	suggest_try(&suggest, "failures_before_critical");
	suggest_try(&suggest, "id");
	(void)suggest_result(&suggest);
	free(text);
	return 0;
}
