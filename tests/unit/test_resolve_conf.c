// SPDX-License-Identifier: MIT
/* Name servers in text form. */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "probes/resolve_conf.h"

/* The walker's part, as far as the kinds need it; their own test stands with the walker. */

static unsigned int problems;

static bool parse_list(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	static const char *items[8];

	(void)load;
	(void)field;
	for (size_t i = 0; i < node->count; i++)
		items[i] = node->items[i]->text;
	*(struct conf_strings *)member =
		(struct conf_strings){.items = items, .count = node->count};
	return true;
}

const struct conf_kind conf_list_of_strings = {.parse = parse_list};
const struct conf_kind conf_duration, conf_count;

bool conf_error(struct conf_load *load, const struct conf_node *node, const char *format, ...)
{
	(void)load;
	(void)node;
	(void)format;
	problems++;
	return false;
}

static void servers_are_addresses(void **state)
{
	static const struct {
		const char *text, *server; /* NULL: refused */
	} cases[] = {
		{"192.0.2.1", "192.0.2.1:53"},
		{"192.0.2.1:5353", "192.0.2.1:5353"},
		{"2001:db8::1", "[2001:db8::1]:53"},
		{"[2001:db8::1]", "[2001:db8::1]:53"},
		{"[2001:db8::1]:5353", "[2001:db8::1]:5353"},
		{"dns.test", NULL},
		{"192.0.2.1:", NULL},
		{"192.0.2.1:0", NULL},
		{"192.0.2.1:65536", NULL},
		{"192.0.2.1:53x", NULL},
		{"[2001:db8::1", NULL},
		{"[2001:db8::1]x", NULL},
		{"fe80::1%lo", NULL},
		{"192.0.2", NULL},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct conf_node item = {.type = CONF_SCALAR, .text = cases[i].text};
		struct conf_node *items[] = {&item};
		struct conf_node node = {.type = CONF_SEQUENCE, .items = items, .count = 1};
		struct conf_strings servers;
		char *text;

		problems = 0;
		(void)resolve_fields[0].kind->parse(NULL, &resolve_fields[0], &node, &servers);
		if (problems != (cases[i].server == NULL))
			fail_msg("'%s'", cases[i].text);
		text = resolve_servers(&servers);
		if (cases[i].server == NULL)
			assert_null(text);
		else
			assert_string_equal(text, cases[i].server);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(servers_are_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
