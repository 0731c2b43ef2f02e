// SPDX-License-Identifier: MIT
/* The steps of a conversation: rows and rules. */
#include "probes/tcp_step.h"

#include "config/arena.h"

const struct conf_field tcp_step_fields[] = {
	STREAM_TEXT(struct tcp_step, send,
		.help = "Text to send, with the escapes \\n \\r \\t \\xHH \\\\"),
	STREAM_HEX(struct tcp_step, send_hex, .help = "Bytes to send, as 41 4d 51 50"),
	CONF_PATH(struct tcp_step, send_file,
		.help = "File whose content is sent without its trailing newlines; read at each "
			"run and never shown"),
	MATCH_PATTERN(struct tcp_step, expect,
		.help = "Regular expression that what comes back must match; used up is the line "
			"in which the match ends and all before it. An answer without the end "
			"of a line counts when nothing follows for 200ms"),
	STREAM_HEX(struct tcp_step, expect_hex,
		.help = "Bytes that must be in what comes back, as 41 4d 51 50; used up with all "
			"before them"),
	MATCH_PATTERN(struct tcp_step, reject,
		.help = "Regular expression that what comes back before the expected must not "
			"match"),
	CONF_BOOL(struct tcp_step, starttls, .fallback = "false",
		.help = "Begins TLS here, as the key tls says"),
	{0},
};

static bool set_kind(struct tcp_step *step)
{
	int sends = (step->send.bytes != NULL) + (step->send_hex.bytes != NULL) +
		(step->send_file != NULL);
	int expects = (step->expect != NULL) + (step->expect_hex.bytes != NULL);

	if (sends + expects + step->starttls != 1)
		return false;
	step->kind = sends > 0 ? TCP_SEND : expects > 0 ? TCP_EXPECT : TCP_STARTTLS;
	return step->reject == NULL || step->kind == TCP_EXPECT;
}

bool tcp_step_check(void *conf, const struct conf_node *node, struct conf_load *load)
{
	if (set_kind(conf))
		return true;
	return conf_error(load, node,
		"a step is one of 'send', 'send_hex', 'send_file', 'expect', 'expect_hex' and "
		"'starttls: true'; 'reject' stands beside 'expect' or 'expect_hex'");
}

void tcp_step_name(struct tcp_step *step, unsigned int number, struct arena *arena)
{
	if (number == 0)
		step->label = step->kind == TCP_SEND ? "'send'" : "'expect'";
	else if (step->kind == TCP_SEND)
		step->label = arena_printf(arena, "step %u (send)", number);
	else if (step->kind == TCP_STARTTLS)
		step->label = arena_printf(arena, "step %u (starttls)", number);
	else
		step->label = arena_printf(arena, "step %u (expect %s%s%s)", number,
			step->expect == NULL ? "" : "'",
			step->expect == NULL ? step->expect_hex.shown : match_shown(step->expect),
			step->expect == NULL ? "" : "'");
}
