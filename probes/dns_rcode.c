// SPDX-License-Identifier: MIT
/* Response codes of DNS: names, and the row kind of a set of them. */
#include "probes/dns_rcode.h"

#include <stdio.h>
#include <string.h>

/* As the registry of DNS RCODEs has them; 16 is BADVERS in an answer without TSIG. */
static const char *const names[] = {
	[DNS_NOERROR] = "NOERROR",
	[DNS_FORMERR] = "FORMERR",
	[DNS_SERVFAIL] = "SERVFAIL",
	[DNS_NXDOMAIN] = "NXDOMAIN",
	[DNS_NOTIMP] = "NOTIMP",
	[DNS_REFUSED] = "REFUSED",
	[6] = "YXDOMAIN",
	[7] = "YXRRSET",
	[8] = "NXRRSET",
	[9] = "NOTAUTH",
	[10] = "NOTZONE",
	[16] = "BADVERS",
	[23] = "BADCOOKIE",
};

#define NAMES (sizeof(names) / sizeof(*names))

void dns_rcode_show(unsigned int rcode, char buffer[DNS_RCODE_SIZE])
{
	if (rcode < NAMES && names[rcode] != NULL)
		(void)snprintf(buffer, DNS_RCODE_SIZE, "%s", names[rcode]);
	else
		(void)snprintf(buffer, DNS_RCODE_SIZE, "RCODE%u", rcode & 0xfff);
}

bool dns_rcodes_have(const struct dns_rcodes *set, unsigned int rcode)
{
	return rcode < NAMES && (set->bits >> rcode & 1) != 0;
}

static bool parse_item(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct dns_rcodes *set)
{
	struct conf_text text;

	if (!field_scalar(load, field, node, &text))
		return false;
	for (size_t i = 0; i < NAMES; i++) {
		if (names[i] != NULL && strcmp(names[i], text.text) == 0) {
			set->bits |= UINT32_C(1) << i;
			return true;
		}
	}
	return conf_error(load, node,
		"'%s' is not a response code in '%s'; write NOERROR, NXDOMAIN, SERVFAIL, REFUSED, "
		"FORMERR or NOTIMP",
		text.shown, field->key);
}

static bool parse_rcodes(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	bool fine = true;

	if (node->type != CONF_SEQUENCE)
		return parse_item(load, field, node, member);
	for (size_t i = 0; i < node->count; i++)
		fine = parse_item(load, field, node->items[i], member) && fine;
	if (node->count == 0)
		return conf_error(load, node, "'%s' names no code", field->key);
	return fine;
}

static void print_rcodes(const struct conf_field *field, const void *member, FILE *stream)
{
	const char *separator = "";

	(void)field;
	(void)fputc('[', stream);
	for (unsigned int i = 0; i < NAMES; i++) {
		if (!dns_rcodes_have(member, i))
			continue;
		(void)fprintf(stream, "%s%s", separator, names[i]);
		separator = ", ";
	}
	(void)fputc(']', stream);
}

static bool equal_rcodes(const struct conf_field *field, const void *a, const void *b)
{
	const struct dns_rcodes *one = a, *other = b;

	(void)field;
	return one->bits == other->bits;
}

static json_t *rcodes_schema(const struct conf_field *field)
{
	json_t *all = json_array(), *item;

	(void)field;
	for (size_t i = 0; i < NAMES; i++) {
		if (names[i] != NULL)
			(void)json_array_append_new(all, json_string(names[i]));
	}
	/* Behind ${NAME} stands what nobody knows yet. */
	item = json_pack("{s:[{s:o},{s:s,s:s}]}", "anyOf", "enum", all, "type", "string", "pattern",
		"\\$\\{");
	return json_pack("{s:[O,{s:s,s:i,s:o}]}", "anyOf", item, "type", "array", "minItems", 1,
		"items", item);
}

const struct conf_kind dns_rcodes = {
	.name = "a response code or a list of them",
	.size = sizeof(struct dns_rcodes),
	.parse = parse_rcodes,
	.print = print_rcodes,
	.equal = equal_rcodes,
	.schema = rcodes_schema,
};
