// SPDX-License-Identifier: MIT
/* When something counts as there, and when as gone. */
#include "tests/unit/unit.h"

#include "runner/sighting.h"

static void twice_in_four_looks_is_there_and_four_without_is_gone(void **unused)
{
	/* Looks from left to right: 1 where it was seen; T: now there, G: now gone. */
	static const struct {
		const char *looks, *news;
	} rows[] = {
		{"0000", "...."},
		{"1000010000", ".........."},
		{"11", ".T"},
		{"101", "..T"},
		{"1001", "...T"},
		{"10001", "....."},
		{"1100001", ".T...G."},
		{"110001000011", ".T.......G.T"},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sighting sighting = {0};
		char news[16] = "";

		for (size_t j = 0; rows[i].looks[j] != '\0'; j++)
			news[j] = ".TG"[sighting_note(&sighting, rows[i].looks[j] == '1')];
		assert_string_equal(news, rows[i].news);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(twice_in_four_looks_is_there_and_four_without_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
