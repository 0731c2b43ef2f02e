// SPDX-License-Identifier: MIT
/* The rows of a grpc probe, and the rules between them. */
#include "probes/grpc_conf.h"

#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "config/hostport.h"
#include "probes/dial.h"
#include "probes/grpc_metadata.h"

static const char *const families[] = {
	[DIAL_ANY] = "any",
	[DIAL_V4] = "v4",
	[DIAL_V6] = "v6",
	NULL,
};

const struct conf_field grpc_fields[] = {
	CONF_ADDRESS(struct grpc_conf, address, .flags = CONF_REQUIRED,
		.help = "HOST:PORT to connect to, or unix:///PATH"),
	CONF_STRING(struct grpc_conf, service, .fallback = "",
		.help = "Name of the service that is asked about; left out, the server as a whole"),
	CONF_CHOICE(struct grpc_conf, ip, .choices = families, .fallback = "any",
		.help = "Which addresses of a name are tried: any, v4 or v6"),
	CONF_MAP_IF(struct grpc_conf, tls, tls_conf, tls_fields,
		.help = "TLS, as `tls: {}` for the system's authorities; without it HTTP/2 is "
			"spoken in clear, by prior knowledge"),
	CONF_STRING(struct grpc_conf, authority,
		.help = "HOST or HOST:PORT to ask for, in place of the address; without "
			"tls.server_name its host is the name of the certificate"),
	CONF_SECRETS(struct grpc_conf, metadata,
		.help = "Metadata of the call; names in small letters, those that end in -bin are "
			"encoded here; values are never shown"),
	CONF_BOOL(struct grpc_conf, watch, .fallback = "false",
		.help = "Whether a call of Watch stays open, so that a change of what is served "
			"starts a run at once; it has no result of its own"),
	{0},
};

static char *in_arena(struct conf_load *load, char *take_text)
{
	char *text = arena_strdup(load->arena, take_text);

	free(take_text);
	return text;
}

static bool check_authority(const struct grpc_conf *conf, const char **ret_host,
	const struct conf_node *node, struct conf_load *load)
{
	struct hostport place = {0};
	const char *complaint;

	if (conf->authority == NULL)
		return true;
	complaint = hostport_parse(load->arena, conf->authority, &place);
	if (complaint != NULL)
		return conf_error_at(load, node_mark(node, "authority"),
			"'%s' is not HOST or HOST:PORT: %s", field_shown(conf->authority),
			complaint);
	*ret_host = place.host;
	return true;
}

static bool check_item(const struct conf_pair *item, struct conf_mark mark, struct conf_load *load)
{
	const char *refusal = grpc_metadata_refusal(item->name);
	const char *value = item->value.value == NULL ? "" : item->value.value;
	const char *prefix = item->value.prefix == NULL ? "" : item->value.prefix;

	if (refusal != NULL)
		return conf_error_at(
			load, mark, "'%s' cannot be metadata: %s", item->name, refusal);
	if (!grpc_metadata_is_binary(item->name) &&
		!(grpc_metadata_is_text(value) && grpc_metadata_is_text(prefix)))
		return conf_error_at(load, mark,
			"the value of '%s' is not printable ASCII; names of other values end in "
			"-bin",
			item->name);
	return true;
}

static bool check_metadata(
	const struct grpc_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	bool fine = true;

	for (size_t i = 0; i < conf->metadata.count; i++) {
		const struct conf_pair *item = &conf->metadata.items[i];

		fine = check_item(item, node_mark(node_get(node, "metadata"), item->name), load) &&
			fine;
	}
	return fine;
}

/* host: of the authority, NULL where it is the address's. */
static bool check_tls(struct grpc_conf *conf, const char *host, const struct conf_node *node,
	struct conf_load *load)
{
	const struct tls_conf *tls = conf->tls;

	conf->tls_name = host != NULL ? host : conf->address.host;
	if (tls == NULL)
		return true;
	if (tls->server_name != NULL)
		conf->tls_name = tls->server_name;
	if (conf->tls_name == NULL && tls->verify)
		return conf_error(load, node,
			"TLS over a unix socket has no host to verify; add tls: {server_name: …}");
	return tls_conf_check(conf->tls, node_get(node, "tls"), load);
}

/* Brackets around an IPv6 address. free(). */
static char *bracket(const char *host)
{
	return xprintf(strchr(host, ':') == NULL ? "%s" : "[%s]", host);
}

static void derive(struct grpc_conf *conf, struct conf_load *load)
{
	const struct conf_address *address = &conf->address;
	char *name = bracket(conf->tls_name == NULL ? "localhost" : conf->tls_name);
	char *host = bracket(address->host == NULL ? "localhost" : address->host);

	conf->origin =
		in_arena(load, xprintf("%s://%s", conf->tls == NULL ? "http" : "https", name));
	if (conf->authority != NULL)
		conf->host_line = in_arena(load, xprintf("Host: %s", conf->authority));
	else if (address->path != NULL)
		conf->host_line = in_arena(load, xprintf("Host: %s", host));
	else
		conf->host_line = in_arena(load, xprintf("Host: %s:%u", host, address->port));
	free(name);
	free(host);
}

bool grpc_check(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct grpc_conf *grpc = conf;
	const char *host = NULL;
	bool fine = check_authority(grpc, &host, node, load);

	fine = check_metadata(grpc, node, load) && fine;
	fine = check_tls(grpc, host, node, load) && fine;
	if (fine)
		derive(grpc, load);
	return fine;
}
