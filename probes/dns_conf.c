// SPDX-License-Identifier: MIT
/* The rows of a dns probe, and the rules between them. */
#include "probes/dns_conf.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "config/hostport.h"

#define DNS_PORT 53
#define MOST_ANSWERS 1000 /* far more than any name has */

static const char *const protocols[] = {
	[DNS_OVER_UDP] = "udp",
	[DNS_OVER_TCP] = "tcp",
	NULL,
};

static const char *const types[] = {
	"A", "AAAA", "SRV", "TXT", "MX", "CNAME", "PTR", "SOA", "NS", NULL};
static const enum dns_type type_numbers[] = {
	DNS_A, DNS_AAAA, DNS_SRV, DNS_TXT, DNS_MX, DNS_CNAME, DNS_PTR, DNS_SOA, DNS_NS};

_Static_assert(sizeof(types) / sizeof(*types) - 1 == sizeof(type_numbers) / sizeof(*type_numbers),
	"each type has a number");

/* A name server: HOST, HOST:PORT, [IPv6]:PORT or an IPv6 address alone. */
static bool parse_server(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct conf_address *server = member;
	struct hostport place = {0};
	const char *complaint;
	struct in6_addr bare;
	struct conf_text text;

	if (!field_scalar(load, field, node, &text))
		return false;
	if (inet_pton(AF_INET6, text.text, &bare) == 1) {
		place.host = text.text;
		complaint = NULL;
	} else {
		complaint = hostport_parse(load->arena, text.text, &place);
	}
	if (complaint != NULL)
		return conf_error(load, node,
			"'%s': '%s' is not HOST, HOST:PORT or [IPv6]:PORT: %s", field->key,
			text.shown, complaint);
	server->host = place.host;
	server->port = place.port == 0 ? DNS_PORT : place.port;
	server->shown = text.shown;
	return true;
}

static void print_server(const struct conf_field *field, const void *member, FILE *stream)
{
	conf_endpoint.print(field, member, stream);
}

static bool equal_servers(const struct conf_field *field, const void *a, const void *b)
{
	return conf_endpoint.equal(field, a, b);
}

static json_t *server_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:s, s:s}", "type", "string", "pattern",
		"^(\\[[0-9A-Fa-f:.]+\\]|[^\\s:/\\[\\]]+)(:[1-9][0-9]{0,4})?$|^[0-9A-Fa-f:.]+$|"
		"\\$\\{");
}

static const struct conf_kind name_server = {
	.name = "HOST, HOST:PORT or [IPv6]:PORT",
	.size = sizeof(struct conf_address),
	.parse = parse_server,
	.print = print_server,
	.equal = equal_servers,
	.schema = server_schema,
};

const struct conf_field dns_fields[] = {
	CONF_STRING(struct dns_conf, name, .flags = CONF_REQUIRED,
		.help = "Name to ask for, whole: no search list applies; with type PTR also an "
			"address"),
	CONF_CHOICE(struct dns_conf, type, .choices = types, .fallback = "A",
		.help = "Type of the records that are asked for"),
	CONF_ROW(struct dns_conf, server, struct conf_address, name_server,
		.help = "Name server to ask, port 53 where none is written; default: those of "
			"`resolver:` or /etc/resolv.conf, one after another. Neither the hosts "
			"file nor kept answers count"),
	CONF_CHOICE(struct dns_conf, protocol, .choices = protocols, .fallback = "udp",
		.help = "udp goes on over TCP where the answer is truncated"),
	CONF_BOOL(struct dns_conf, recursion, .fallback = "true",
		.help = "Asks the server to ask others for what it does not know"),
	DNS_RCODES(struct dns_conf, rcode, .fallback = "NOERROR",
		.help = "Response codes that pass, such as NXDOMAIN for a name that must not be"),
	CONF_BOOL(struct dns_conf, authoritative, .fallback = "false",
		.help = "The answer must come from a server of the zone itself, not from a cache"),
	CONF_INTEGER(struct dns_conf, min_answers, .min = 0, .max = MOST_ANSWERS,
		.help = "How many records of the type there must be, with NOERROR; default: 1"),
	MATCH_PATTERN(struct dns_conf, expect,
		.help = "Regular expression that an answer must match. Answers are one a line, "
			"as dig +short has them: 10 60 8080 node1.web. or \"a text\""),
	MATCH_PATTERN(
		struct dns_conf, reject, .help = "Regular expression that no answer may match"),
	{0},
};

/* The name as it is asked for: an address turned round. */
static bool set_name(struct dns_conf *conf, const struct conf_node *at, struct conf_load *load)
{
	char *reverse = dns_name_reverse(conf->name);
	bool fine = true;

	conf->question.name = conf->name;
	if (reverse != NULL && conf->question.type != DNS_PTR)
		fine = conf_error(load, at,
			"'%s' is an address, not a name; `type: PTR` asks for the name of one",
			conf->name_shown);
	else if (reverse != NULL)
		conf->question.name = arena_strdup(load->arena, reverse);
	free(reverse);
	return fine;
}

static bool check_name(struct dns_conf *conf, const struct conf_node *at, struct conf_load *load)
{
	struct dns_query query;

	conf->name_shown = field_shown(conf->name);
	if (!set_name(conf, at, load))
		return false;
	for (const char *byte = conf->name; *byte != '\0'; byte++) {
		if (*byte <= ' ' || *byte > '~')
			return conf_error(load, at,
				"'%s' is no name of DNS; letters beyond ASCII are written as xn--…",
				conf->name_shown);
	}
	if (*conf->name == '\0' || !dns_query_init(&conf->question, 0, &query))
		return conf_error(load, at,
			"'%s' is no name of DNS: labels of 1 to 63 bytes, 253 in all",
			conf->name_shown);
	dns_query_finish(&query);
	return true;
}

static bool check_answers(
	struct dns_conf *conf, const struct conf_node *node, struct conf_load *load)
{
	bool given = conf->min_answers != CONF_NO_INTEGER;

	if (!dns_rcodes_have(&conf->rcode, DNS_NOERROR) &&
		((given && conf->min_answers > 0) || conf->expect != NULL || conf->reject != NULL))
		return conf_error_at(load, node_mark(node, "rcode"),
			"'min_answers', 'expect' and 'reject' look at the answers of a NOERROR, "
			"which 'rcode' does not let pass");
	conf->wanted = given ? (size_t)conf->min_answers : 1;
	return true;
}

bool dns_check(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct dns_conf *dns = conf;
	const struct conf_node *at = node->type == CONF_MAPPING ? node_get(node, "name") : node;
	bool fine;

	dns->type_name = types[dns->type];
	dns->question =
		(struct dns_question){.type = type_numbers[dns->type], .recursion = dns->recursion};
	fine = check_name(dns, at == NULL ? node : at, load);
	return check_answers(dns, node, load) && fine;
}
