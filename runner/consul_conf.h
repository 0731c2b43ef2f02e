/* SPDX-License-Identifier: MIT */
/* runner/consul_conf.h: what is configured of the agent and the way to it. */
#ifndef RUNNER_CONSUL_CONF_H
#define RUNNER_CONSUL_CONF_H

#include <stdbool.h>

#include "config/field.h"
#include "probes/tls_conf.h"

enum consul_transport {
	CONSUL_HTTP,
	CONSUL_HTTPS,
	CONSUL_UNIX,
};

/* Where the agent listens; `off` means standalone. */
struct consul_address {
	bool off;
	enum consul_transport transport;
	const char *base; /* "http://host:port" or "https://…", no slash at the end;
			     "http://localhost" for unix */
	const char *host; /* for the Host header and messages */
	struct conf_address endpoint;
};

struct consul_conf {
	struct consul_address address;
	const char *token_file; /* NULL: none */
	const char *namespace, *partition; /* NULL: not sent */
	struct tls_conf tls;
	double timeout; /* s, of one call */
	double read_back; /* s between two looks at the catalog */
};

#endif
