/* SPDX-License-Identifier: MIT */
/* probes/tcp_step.h: one step of a conversation: its rows, and what an answer means. Pure. */
#ifndef PROBES_TCP_STEP_H
#define PROBES_TCP_STEP_H

#include "config/field.h"
#include "probes/match.h"
#include "probes/stream_text.h"

enum tcp_step_kind {
	TCP_SEND,
	TCP_EXPECT,
	TCP_STARTTLS,
};

struct tcp_step {
	struct stream_text send, send_hex;
	const char *send_file; /* NULL: none */
	const struct match *expect, *reject; /* NULL: none */
	struct stream_text expect_hex;
	bool starttls;

	/* Derived. */
	enum tcp_step_kind kind;
	bool last; /* nothing follows */
	const char *label; /* as messages call it: "step 2 (expect '^250 ')" */
};

extern const struct conf_field tcp_step_fields[];

/* The rules between the keys of one step; see conf_variant.check. */
bool tcp_step_check(void *conf, const struct conf_node *node, struct conf_load *load);

/* Derives the label of a step that was checked; number is from 1, 0 for the short form. */
void tcp_step_name(struct tcp_step *step, unsigned int number, struct arena *arena);

enum tcp_heard {
	TCP_HEARD_LITTLE, /* not yet what is expected */
	TCP_HEARD_IT,
	TCP_HEARD_REJECT,
	TCP_HEARD_ERROR, /* the pattern engine failed */
};

/*
 * What has come so far, to a step that expects. After TCP_HEARD_IT the first *ret_taken
 * bytes are the answer to it: up to the end of the line in which a pattern's match ends,
 * so that no half line is left to the next step. That end is waited for (TCP_HEARD_LITTLE)
 * where more may come and steps follow. On TCP_HEARD_ERROR *ret_error is static text.
 */
enum tcp_heard tcp_step_hear(const struct tcp_step *step, const struct match_subject *subject,
	size_t *ret_taken, const char **ret_error);

#endif
