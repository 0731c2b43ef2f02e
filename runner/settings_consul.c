// SPDX-License-Identifier: MIT
/* The rows of the agent, and the rules between them. */
#include <ctype.h>
#include <string.h>

#include "runner/settings_rows.h"

#define NAME_MAX_BYTES 64 /* of namespaces and partitions, as the agent has it */

const struct conf_field settings_consul_fields[] = {
	{
		.key = "address",
		.kind = &settings_consul_address,
		.offset = CONF_AT(struct consul_conf, address, struct consul_address),
		.fallback = "http://127.0.0.1:8500",
		.help = "Local agent: http://HOST:PORT, https://HOST:PORT, unix:///PATH, or off "
			"for none",
	},
	CONF_PATH(struct consul_conf, token_file,
		.help = "File with the ACL token, read again when it changes"),
	CONF_STRING(struct consul_conf, namespace,
		.help = "Namespace of services and checks; only for agents of Consul Enterprise"),
	CONF_STRING(struct consul_conf, partition,
		.help = "Admin partition of the agent; only for agents of Consul Enterprise"),
	TLS_MAP(struct consul_conf, tls,
		.help = "How an agent behind https is verified, and with which certificate it is "
			"asked; not `expires`"),
	/* An agent that answers at all does so in ms; one in an election hangs for 7 s or more. */
	CONF_DURATION(struct consul_conf, timeout, .fallback = "5s", .min = 0.1, .max = 60,
		.help = "Deadline of one call to the agent"),
	CONF_DURATION(struct consul_conf, read_back, .fallback = "60s", .min = 1, .max = 86400,
		.help = "Time between two looks whether the catalog has what the agent was told; "
			"it needs the right to read the node"),
	{0},
};

/* Goes into a header line as it is. */
static bool is_name(const char *text)
{
	size_t length = strlen(text);

	if (length == 0 || length > NAME_MAX_BYTES)
		return false;
	for (; *text != '\0'; text++) {
		if (!isalnum((unsigned char)*text) && *text != '-' && *text != '_')
			return false;
	}
	return true;
}

static bool check_name(
	struct conf_load *load, const struct conf_node *node, const char *key, const char *name)
{
	if (name == NULL || is_name(name))
		return true;
	return conf_error_at(load, node_mark(node, key),
		"'%s' is no name of a %s: letters, digits, '-' and '_', at most %d",
		field_shown(name), key, NAME_MAX_BYTES);
}

bool settings_consul_check(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct consul_conf *consul = conf;
	const struct conf_node *tls = node->type == CONF_MAPPING ? node_get(node, "tls") : NULL;
	bool fine = check_name(load, node, "namespace", consul->namespace);

	fine = check_name(load, node, "partition", consul->partition) && fine;
	if (tls != NULL && consul->address.transport != CONSUL_HTTPS)
		conf_warn_at(
			load, node_mark(node, "tls"), "not used: the agent's address is not https");
	if (consul->tls.expires.note > 0 || consul->tls.expires.critical > 0)
		fine = conf_error_at(load, node_mark(tls, "expires"),
			"'expires' is for probes; probe the agent's address by http to watch its "
			"certificate");
	return tls_conf_check(&consul->tls, tls, load) && fine;
}
