// SPDX-License-Identifier: MIT
/* The dns probe: asks name servers, one after another, until one answers; judges the answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "probes/dial_address.h"
#include "probes/dns_judge.h"
#include "probes/dns_run.h"

#define LONGEST_TIMEOUT 10.0 /* s: as for tcp */

static const struct dns_conf *conf_of(struct dns_run *run)
{
	return probe_conf(probe_of_run(run));
}

static char *dns_target(const void *conf)
{
	const struct dns_conf *dns = conf;

	return xprintf("%s %s%s%s", dns->name_shown, dns->type_name,
		dns->server.host == NULL ? "" : " at ",
		dns->server.host == NULL ? "" : dns->server.shown);
}

static void stop_asking(struct dns_run *run)
{
	ev_timer_stop(probe_loop(probe_of_run(run)), &run->patience);
	dns_udp_stop(run);
	dns_tcp_stop(run);
}

/* How far a server is, as text; state is that of the one being asked. */
static void print_server(FILE *stream, const struct dns_server *server, const char *state)
{
	char *address = address_show(&server->address);

	(void)fprintf(stream, "%s ", address);
	if (server->truncated)
		(void)fputs("truncated over UDP, over TCP: ", stream);
	if (server->failed)
		(void)fputs(server->how, stream);
	else
		(void)fputs(server->asked ? state : "not asked yet", stream);
	if (server->foreign && !server->failed)
		(void)fputs(" (an answer to another question was ignored)", stream);
	free(address);
}

/* All servers and how far they are; with asked_only those that were asked, but the current one. */
static char *report(const struct dns_run *run, bool asked_only)
{
	const char *separator = "";
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (stream == NULL)
		abort(); /* only for want of memory */
	for (size_t i = 0; i < run->count; i++) {
		const struct dns_server *server = &run->servers[i];
		bool current = i == run->at;

		if (asked_only && (current || !server->asked))
			continue;
		(void)fputs(separator, stream);
		print_server(stream, server,
			current && run->dial != NULL ? dns_tcp_state(run) : "no answer");
		separator = ", ";
	}
	(void)fclose(stream);
	return text;
}

static void finish(
	struct dns_run *run, enum probe_status status, enum probe_reason reason, char *take_text)
{
	run->finished = true;
	stop_asking(run);
	probe_finish(probe_of_run(run), status, reason, "%s", take_text);
	free(take_text);
}

/* None is left. The fault is this machine's where it could not ask one of them. */
static void fail_all(struct dns_run *run)
{
	enum probe_reason reason = run->servers[run->at].reason;

	for (size_t i = 0; i < run->count; i++) {
		if (run->servers[i].reason == REASON_LOCAL)
			reason = REASON_LOCAL;
	}
	finish(run, PROBE_CRITICAL, reason, report(run, false));
}

static void note_failure(struct dns_run *run, enum probe_reason reason, const char *how)
{
	struct dns_server *server = &run->servers[run->at];
	char *address = address_show(&server->address);

	server->failed = true;
	server->reason = reason;
	server->how = xstrdup(how);
	probe_trace(probe_of_run(run), TRACE_ADDRESS, "%s %s", address, how);
	free(address);
}

/* The next server in turn that has not failed; false where there is none but the current one. */
static bool has_next(const struct dns_run *run, size_t *ret_next)
{
	for (size_t i = 1; i < run->count; i++) {
		size_t next = (run->at + i) % run->count;

		if (!run->servers[next].failed) {
			*ret_next = next;
			return true;
		}
	}
	return false;
}

/* Asks the current server; 0, or why that is not possible. */
static int ask_one(struct dns_run *run)
{
	struct dns_server *server = &run->servers[run->at];
	int error = 0;

	server->asked = true;
	if (conf_of(run)->protocol == DNS_OVER_TCP || server->truncated)
		dns_tcp_start(run);
	else
		error = dns_udp_start(run);
	if (error == 0 && run->dial == NULL)
		probe_phase(probe_of_run(run), PHASE_SEND);
	return error;
}

/* The current server, and those behind it where it cannot be asked. */
static void ask(struct dns_run *run)
{
	double share = probe_timeout(probe_of_run(run)) / (double)run->count;
	size_t next;
	int error;

	while ((error = ask_one(run)) != 0) {
		note_failure(run, dns_udp_reason(error), strerror(error));
		if (!has_next(run, &run->at)) {
			fail_all(run);
			return;
		}
	}
	if (!has_next(run, &next))
		return;
	run->patience.repeat = share > 0 && share < DNS_PATIENCE ? share : DNS_PATIENCE;
	ev_timer_again(probe_loop(probe_of_run(run)), &run->patience);
}

static void on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct dns_run *run = timer->data;

	(void)loop;
	(void)events;
	stop_asking(run);
	if (has_next(run, &run->at))
		ask(run);
}

void dns_server_failed(struct dns_run *run, enum probe_reason reason, const char *how)
{
	note_failure(run, reason, how);
	stop_asking(run);
	if (has_next(run, &run->at))
		ask(run);
	else
		fail_all(run);
}

static void trace_answer(struct dns_run *run, const struct dns_answer *answer, size_t length)
{
	char rcode[DNS_RCODE_SIZE];

	dns_rcode_show(answer->rcode, rcode);
	probe_trace(probe_of_run(run), TRACE_ANSWER, "%s, %zu answers%s, in %zu bytes%s", rcode,
		answer->count, answer->authoritative ? ", with authority" : "", length,
		answer->truncated ? ", truncated" : "");
}

static void judge(struct dns_run *run, const struct dns_answer *answer)
{
	struct dns_verdict verdict;
	char *address, *others;
	size_t next;

	dns_judge(conf_of(run), answer, &verdict);
	if (verdict.next && has_next(run, &next)) {
		dns_server_failed(run, verdict.reason, verdict.text);
		free(verdict.text);
		return;
	}
	address = address_show(&run->servers[run->at].address);
	others = report(run, true);
	probe_output(probe_of_run(run), answer->text, strlen(answer->text));
	finish(run, verdict.status, verdict.reason,
		xprintf("%s from %s%s%s%s", verdict.text, address, *others == '\0' ? "" : " (",
			others, *others == '\0' ? "" : ")"));
	free(verdict.text);
	free(address);
	free(others);
}

/* Truncated over UDP: the same server is asked again, now over TCP. */
static void go_on_over_tcp(struct dns_run *run)
{
	if (run->dial != NULL) {
		dns_server_failed(run, REASON_CUT, "sent a truncated answer");
		return;
	}
	run->servers[run->at].truncated = true;
	dns_udp_stop(run);
	dns_tcp_start(run);
}

enum dns_reading dns_heard(struct dns_run *run, const struct dns_bytes *message)
{
	struct dns_answer answer = {0};
	const char *problem = NULL;
	enum dns_reading reading = dns_message_read(&run->query, message, &answer, &problem);

	if (reading == DNS_FOREIGN) {
		run->servers[run->at].foreign = true;
		probe_trace(probe_of_run(run), TRACE_ANSWER, "to another question: ignored");
		return reading;
	}
	probe_phase(probe_of_run(run), PHASE_RECEIVE);
	if (reading == DNS_BROKEN) {
		dns_server_failed(run, REASON_PROTOCOL, problem);
		return reading;
	}
	trace_answer(run, &answer, message->length);
	if (answer.truncated)
		go_on_over_tcp(run);
	else
		judge(run, &answer);
	dns_answer_clear(&answer);
	return reading;
}

/* The servers are known. */
static void begin(struct dns_run *run, const struct sockaddr_storage *servers, size_t count)
{
	const struct dns_conf *conf = conf_of(run);

	run->count = count < DNS_MOST_SERVERS ? count : DNS_MOST_SERVERS;
	run->servers = xcalloc(run->count, sizeof(*run->servers));
	for (size_t i = 0; i < run->count; i++)
		run->servers[i].address = servers[i];
	probe_phase(probe_of_run(run), PHASE_CONNECT);
	probe_trace(probe_of_run(run), TRACE_REQUEST, "%s %s%s", conf->name_shown, conf->type_name,
		conf->recursion ? "" : ", without recursion");
	ask(run);
}

static void on_looked_up(void *owner, const struct resolve_answer *answer)
{
	struct dns_run *run = owner;
	const struct conf_address *server = &conf_of(run)->server;
	struct sockaddr_storage *found;

	run->lookup = NULL;
	if (answer->count == 0) {
		finish(run, PROBE_CRITICAL, REASON_RESOLVE,
			xprintf("%s: %s", server->host, answer->error));
		return;
	}
	found = xcalloc(answer->count, sizeof(*found));
	memcpy(found, answer->addresses, answer->count * sizeof(*found));
	for (size_t i = 0; i < answer->count; i++)
		address_set_port(&found[i], server->port);
	begin(run, found, answer->count);
	free(found);
}

static void dns_start(struct probe *probe)
{
	struct dns_run *run = probe_run(probe);
	const struct dns_conf *conf = probe_conf(probe);
	struct sockaddr_storage servers[DNS_MOST_SERVERS];
	size_t count;
	uint16_t id;

	dns_udp_init(run);
	ev_init(&run->patience, on_patience);
	run->patience.data = run;
	clock_random(&id, sizeof(id));
	/* Was possible when the configuration was checked. */
	if (!dns_query_init(&conf->question, id, &run->query))
		abort();
	if (conf->server.host == NULL) {
		count = resolve_servers_now(probe_loop(probe), servers, DNS_MOST_SERVERS);
		if (count > 0)
			begin(run, servers, count);
		else
			finish(run, PROBE_CRITICAL, REASON_RESOLVE,
				xstrdup("no name server is known"));
	} else if (address_parse(conf->server.host, &servers[0])) {
		address_set_port(&servers[0], conf->server.port);
		begin(run, servers, 1);
	} else {
		probe_phase(probe, PHASE_RESOLVE);
		run->lookup = resolve_start(
			probe_loop(probe), conf->server.host, AF_UNSPEC, on_looked_up, run);
	}
}

static void dns_expire(struct probe *probe)
{
	struct dns_run *run = probe_run(probe);
	char *text = run->lookup == NULL ? report(run, false)
					 : xprintf("looking up %s", conf_of(run)->server.host);

	probe_seen(probe, "%s", text);
	free(text);
}

static void dns_cancel(struct probe *probe)
{
	struct dns_run *run = probe_run(probe);

	resolve_cancel(run->lookup);
	run->lookup = NULL;
	stop_asking(run);
	for (size_t i = 0; i < run->count; i++)
		free(run->servers[i].how);
	free(run->servers);
	run->servers = NULL;
	run->count = 0;
	dns_query_finish(&run->query);
}

const struct probe_type probe_dns = {
	.conf =
		{
			.name = "dns",
			.summary = "Asks a name server, and judges its answer",
			.fields = dns_fields,
			.size = sizeof(struct dns_conf),
			.shorthand = "name",
			.check = dns_check,
			.example = "consul: off\n"
				   "checks:\n"
				   "  - name: backends\n"
				   "    node: true\n"
				   "    dns:\n"
				   "      server: 127.0.0.1:8600\n"
				   "      name: web.service.consul\n"
				   "      type: SRV\n"
				   "      min_answers: 2\n"
				   "      expect: ' 8080 .*\\.node\\.dc1\\.consul\\.$'\n",
		},
	.run_size = sizeof(struct dns_run),
	.longest_timeout = LONGEST_TIMEOUT,
	.target = dns_target,
	.start = dns_start,
	.expire = dns_expire,
	.cancel = dns_cancel,
};
