// SPDX-License-Identifier: MIT
/* The grpc probe: asks a server for its health by the standard protocol, grpc.health.v1. */
#include <stdlib.h>

#include "config/arena.h"
#include "probes/grpc_call.h"
#include "probes/grpc_watch.h"
#include "probes/probe.h"

#define LONGEST_TIMEOUT 10.0 /* s: as Consul's own gRPC checks */

struct grpc_run {
	struct grpc_call call;
};

static void on_entered(void *owner, enum probe_phase phase);
static void on_ended(void *owner, struct grpc_verdict take_verdict);

static char *grpc_target(const void *conf)
{
	const struct grpc_conf *grpc = conf;

	if (*grpc->service == '\0')
		return xstrdup(grpc->address.shown);
	return xprintf("%s %s", grpc->address.shown, field_shown(grpc->service));
}

static void grpc_start(struct probe *probe)
{
	struct grpc_run *run = probe_run(probe);

	grpc_call_start(&run->call,
		&(struct grpc_call_setup){
			.loop = probe_loop(probe),
			.trace = probe_tracer(probe),
			.conf = probe_conf(probe),
			.method = "Check",
			.timeout = probe_timeout(probe),
			.entered = on_entered,
			.ended = on_ended,
			.owner = run,
		});
}

static void on_entered(void *owner, enum probe_phase phase)
{
	probe_phase(probe_of_run(owner), phase);
}

static void on_ended(void *owner, struct grpc_verdict take_verdict)
{
	probe_finish(probe_of_run(owner), take_verdict.status, take_verdict.reason, "%s",
		take_verdict.text);
	free(take_verdict.text);
}

static void grpc_expire(struct probe *probe)
{
	struct grpc_run *run = probe_run(probe);
	char *progress = grpc_call_progress(&run->call);

	probe_seen(probe, "%s", progress);
	free(progress);
}

static void grpc_cancel(struct probe *probe)
{
	struct grpc_run *run = probe_run(probe);

	grpc_call_finish(&run->call);
}

const struct probe_type probe_grpc = {
	.conf =
		{
			.name = "grpc",
			.summary = "Asks a gRPC server for its health (grpc.health.v1)",
			.fields = grpc_fields,
			.size = sizeof(struct grpc_conf),
			.shorthand = "address",
			.check = grpc_check,
			.example = "service: {id: orders-1}\n"
				   "checks:\n"
				   "  - name: orders\n"
				   "    grpc:\n"
				   "      address: 127.0.0.1:50051\n"
				   "      service: shop.Orders\n"
				   "      tls: {ca_file: /etc/ssl/internal.pem, server_name: "
				   "orders.internal}\n"
				   "      metadata: {authorization: {file: /run/secrets/selftest, "
				   "prefix: 'Bearer '}}\n",
		},
	.run_size = sizeof(struct grpc_run),
	.longest_timeout = LONGEST_TIMEOUT,
	.target = grpc_target,
	.start = grpc_start,
	.expire = grpc_expire,
	.cancel = grpc_cancel,
	.watch_start = grpc_watch_start,
	.watch_stop = grpc_watch_stop,
};
