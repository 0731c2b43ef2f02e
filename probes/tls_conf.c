// SPDX-License-Identifier: MIT
/* The rows of TLS, and the rules between them. */
#include "probes/tls_conf.h"

#include <ctype.h>
#include <string.h>

#include "config/arena.h"
#include "probes/tls_identity.h"
#include "probes/tls_trust.h"

#define NAME_MAX_BYTES 253 /* RFC 1035, 2.3.4: 255 octets on the wire */
#define YEAR 31536000.0 /* s */

static const struct conf_field expires_fields[] = {
	CONF_DURATION(struct tls_expires_conf, note, .min = 1, .max = 10 * YEAR,
		.help = "A certificate that ends within this time is named, and the status stays"),
	CONF_DURATION(struct tls_expires_conf, critical, .min = 1, .max = 10 * YEAR,
		.help = "A certificate that ends within this time is critical"),
	{0},
};

const struct conf_field tls_fields[] = {
	CONF_PATH(struct tls_conf, ca_file,
		.help = "Certificate authorities in PEM form, in place of the system's; read again "
			"when it changes"),
	CONF_STRING(struct tls_conf, server_name,
		.help = "Name sent as SNI and looked for in the certificate, in place of the "
			"target's host"),
	CONF_PATH(struct tls_conf, cert_file,
		.help = "Client certificate in PEM form, what leads to its authority behind it; "
			"read again when it changes"),
	CONF_PATH(struct tls_conf, key_file,
		.help = "Key of the client certificate in PEM form, without a passphrase; read "
			"again when it changes"),
	CONF_BOOL(struct tls_conf, verify, .fallback = "true",
		.help = "Whether the server's certificate is verified; with false anybody can "
			"answer in its place"),
	CONF_MAP(struct tls_conf, expires, tls_expires_conf, expires_fields,
		.help = "Limits on the time that the server's certificates have left, the "
			"intermediate ones that it sends included"),
	{0},
};

/* A name that can stand in SNI and in a certificate, or an address. */
static bool is_host(const char *text)
{
	size_t length = strlen(text);

	if (length == 0 || length > NAME_MAX_BYTES)
		return false;
	for (; *text != '\0'; text++) {
		if (!isalnum((unsigned char)*text) && strchr(".-_:", *text) == NULL)
			return false;
	}
	return true;
}

static void release_trust(void *trust)
{
	tls_trust_release(trust);
}

static void destroy_identity(void *identity)
{
	tls_identity_destroy(identity);
}

static bool check_identity(
	struct tls_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	if (conf->cert_file == NULL && conf->key_file == NULL)
		return true;
	if (conf->key_file == NULL)
		return conf_error_at(load, node_mark(node, "cert_file"),
			"cert_file needs the key that belongs to it: add key_file");
	if (conf->cert_file == NULL)
		return conf_error_at(load, node_mark(node, "key_file"),
			"key_file needs the certificate that it belongs to: add cert_file");
	conf->identity = tls_identity_create(conf->cert_file, conf->key_file);
	arena_defer(load->arena, destroy_identity, conf->identity);
	return true;
}

static bool check_expires(
	const struct tls_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	const struct tls_expires_conf *expires = &conf->expires;

	if (expires->note > 0 && expires->critical > expires->note)
		return conf_error_at(load, node_mark(node_get(node, "expires"), "critical"),
			"critical must not be longer than note, which comes first");
	return true;
}

bool tls_conf_check(struct tls_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	bool fine = check_identity(conf, node, load);

	if (conf->server_name != NULL && !is_host(conf->server_name))
		fine = conf_error_at(load, node_mark(node, "server_name"),
			"'%s' is not a host name", field_shown(conf->server_name));
	fine = check_expires(conf, node, load) && fine;
	if (!conf->verify)
		conf_warn_at(load, node_mark(node, "verify"),
			"without verification anybody on the way can answer in the server's place; "
			"name its authority with ca_file, or its name with server_name");
	conf->trust = tls_trust_share(conf->ca_file);
	arena_defer(load->arena, release_trust, conf->trust);
	return fine;
}

bool tls_conf_place(struct tls_conf *conf, const struct conf_address *address,
	const struct conf_node *node, struct conf_load *load)
{
	conf->name = conf->server_name != NULL ? conf->server_name : address->host;
	if (conf->name == NULL && conf->verify)
		return conf_error(load, node,
			"TLS over a unix socket has no host to verify; add tls: {server_name: …}");
	if (conf->name == NULL)
		conf->name = "localhost";
	return tls_conf_check(
		conf, node->type == CONF_MAPPING ? node_get(node, "tls") : NULL, load);
}
