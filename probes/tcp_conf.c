// SPDX-License-Identifier: MIT
/* The rows of a tcp probe, and the rules between them. */
#include "probes/tcp_conf.h"

#include <sys/socket.h>

#include "config/arena.h"
#include "probes/dial_address.h"

static const char *const families[] = {
	[TCP_IP_ANY] = "any",
	[TCP_IP_V4] = "v4",
	[TCP_IP_V6] = "v6",
	[TCP_IP_BOTH] = "both",
	NULL,
};

const struct conf_field tcp_fields[] = {
	CONF_ADDRESS(struct tcp_conf, address, .flags = CONF_REQUIRED,
		.help = "HOST:PORT to connect to, or unix:///PATH"),
	CONF_CHOICE(struct tcp_conf, ip, .choices = families, .fallback = "any",
		.help = "Which addresses of a name are tried: any, v4 or v6; with both the whole "
			"conversation must succeed over IPv4 and then over IPv6"),
	CONF_MAP_IF(struct tcp_conf, tls, tls_conf, tls_fields,
		.help = "TLS over the connection, from the start unless a step begins it; "
			"`tls: {}` for the system's authorities"),
	STREAM_TEXT(struct tcp_conf, send,
		.help = "Text sent once connected, with the escapes \\n \\r \\t \\xHH \\\\; short "
			"for a first step"),
	MATCH_PATTERN(struct tcp_conf, expect,
		.help = "Regular expression that what comes back must match, in its first 64 KiB; "
			"short for a last step"),
	CONF_LIST(struct tcp_conf, steps, tcp_step, tcp_step_fields, .check = tcp_step_check,
		.help = "A conversation, at most 64 steps, one after another; the connection then "
			"ends in order"),
	{0},
};

/* A conversation of one send and one expect, as the short form has it. */
static void short_steps(struct tcp_conf *conf, struct arena *arena)
{
	struct tcp_step *steps;

	/* Most of them only connect: nothing is kept for those. */
	if (conf->send.bytes == NULL && conf->expect == NULL)
		return;
	steps = arena_alloc(arena, 2 * sizeof(*steps));
	conf->script = steps;
	if (conf->send.bytes != NULL)
		steps[conf->script_length++] =
			(struct tcp_step){.kind = TCP_SEND, .send = conf->send};
	if (conf->expect != NULL)
		steps[conf->script_length++] =
			(struct tcp_step){.kind = TCP_EXPECT, .expect = conf->expect};
	for (size_t i = 0; i < conf->script_length; i++)
		tcp_step_name(&steps[i], 0, arena);
}

/* What was sent in clear must be answered before TLS begins: the answer ends the clear part. */
static bool check_order(
	const struct tcp_conf *conf, const struct conf_node *list, struct conf_load *load)
{
	bool begun = false;

	for (size_t i = 0; i < conf->script_length; i++) {
		if (conf->script[i].kind != TCP_STARTTLS)
			continue;
		if (begun)
			return conf_error(load, list->items[i], "TLS begins once only");
		if (i > 0 && conf->script[i - 1].kind != TCP_EXPECT)
			return conf_error(load, list->items[i],
				"'starttls' needs an 'expect' before it: the server says when it "
				"is ready");
		begun = true;
	}
	return true;
}

static bool long_steps(struct tcp_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	if (conf->send.bytes != NULL || conf->expect != NULL)
		return conf_error_at(load, node_mark(node, "steps"),
			"'send' and 'expect' are short for steps; make them the first of 'steps'");
	if (conf->steps.count > TCP_MOST_STEPS)
		return conf_error_at(load, node_mark(node, "steps"),
			"%zu steps; at most %d are possible", conf->steps.count, TCP_MOST_STEPS);
	conf->script = conf->steps.items;
	conf->script_length = conf->steps.count;
	for (size_t i = 0; i < conf->script_length; i++)
		tcp_step_name(&conf->script[i], (unsigned int)i + 1, load->arena);
	return check_order(conf, node_get(node, "steps"), load);
}

static bool begins_tls(const struct tcp_conf *conf)
{
	for (size_t i = 0; i < conf->script_length; i++) {
		if (conf->script[i].kind == TCP_STARTTLS)
			return true;
	}
	return false;
}

static bool check_tls(struct tcp_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	bool later = begins_tls(conf);

	if (conf->tls == NULL && !later)
		return true;
	if (conf->tls == NULL) {
		conf->tls = arena_alloc(load->arena, sizeof(*conf->tls));
		conf->tls->verify = true;
	}
	conf->tls_first = !later;
	return tls_conf_place(conf->tls, &conf->address, node, load);
}

static void mark_last(struct tcp_conf *conf)
{
	if (conf->script_length > 0)
		conf->script[conf->script_length - 1].last = true;
}

bool tcp_check(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct tcp_conf *tcp = conf;
	struct sockaddr_storage address;
	bool fine = true;

	if (tcp->ip == TCP_IP_BOTH &&
		(tcp->address.host == NULL || address_parse(tcp->address.host, &address)))
		fine = conf_error_at(load, node_mark(node, "ip"),
			"'both' is for a name, which can have addresses of both families");
	if (tcp->steps.count > 0)
		fine = long_steps(tcp, node, load) && fine;
	else
		short_steps(tcp, load->arena);
	mark_last(tcp);
	return check_tls(tcp, node, load) && fine;
}
