// SPDX-License-Identifier: MIT
/* How a request of an HTTP probe gets its connection: dialled, kept, or a unix socket. */
#include "probes/http_run.h"

#include <stdlib.h>

#include "probes/http_kept.h"

static void on_connecting(void *owner);
static void on_dialed(void *owner, int fd, enum probe_reason reason);
static bool on_ready(void *owner);

static const struct http_conf *conf_of(struct http_run *run)
{
	return probe_conf(probe_of_run(run));
}

void http_stop(struct http_run *run)
{
	curlev_stop(&run->transfer);
	if (run->easy != NULL)
		curlev_give_back(run->curlev, run->easy);
	run->easy = NULL;
}

/* True where the request goes to the place that the user wrote: not after a redirect abroad. */
static bool is_home(const struct http_run *run)
{
	return run->redirects == 0 || !run->request.abroad;
}

/* Over a connected socket; fd -1: over the check's own connection, kept or by a unix socket. */
static void transfer(struct http_run *run, int fd)
{
	struct probe *probe = probe_of_run(run);
	const struct http_conf *conf = conf_of(run);
	bool keeps = conf->kept != NULL && run->redirects == 0;
	bool tls = run->request.place->tls;

	run->curlev = keeps ? http_kept_curlev(conf->kept, probe_loop(probe))
			    : curlev_shared(probe_loop(probe));
	run->tls = keeps ? http_kept_tls(conf->kept) : &run->own_tls;
	run->ready = !tls;
	run->easy = curlev_easy(run->curlev);
	http_request_apply(run->easy, &run->request);
	http_answer_apply(run->easy, &run->answer);
	(void)curl_easy_setopt(run->easy, CURLOPT_FRESH_CONNECT, (long)!run->reused);
	(void)curl_easy_setopt(run->easy, CURLOPT_FORBID_REUSE, (long)!keeps);
	if (tls) {
		run->tls->conf = &conf->tls;
		run->tls->trace = keeps ? NULL : probe_tracer(probe);
		run->tls->anonymous = run->request.abroad;
		http_tls_apply(run->easy, run->tls);
	}
	if (tls || (conf->unix_socket != NULL && is_home(run))) {
		run->on_ready = (struct http_ready){tls ? run->tls : NULL, on_ready, run};
		http_ready_apply(run->easy, &run->on_ready);
	}
	if (conf->unix_socket != NULL && is_home(run)) {
		(void)curl_easy_setopt(run->easy, CURLOPT_UNIX_SOCKET_PATH, conf->unix_socket);
		curlev_start(run->curlev, &run->transfer, run->easy, http_done);
	} else {
		curlev_start_on(run->curlev, &run->transfer, run->easy, fd, http_done);
	}
}

static void trace_request(struct http_run *run)
{
	char *text;

	if (probe_tracer(probe_of_run(run)) == NULL)
		return;
	text = http_request_show(&run->request);
	probe_trace(probe_of_run(run), TRACE_REQUEST, "%s%s", text,
		run->reused ? ", over a kept connection" : "");
	free(text);
}

static void dial(struct http_run *run)
{
	static const enum dial_family families[] = {DIAL_ANY, DIAL_V4, DIAL_V6, DIAL_V4};
	struct probe *probe = probe_of_run(run);
	const struct http_place *place = run->request.place;
	const struct dial_setup setup = {
		.loop = probe_loop(probe),
		.trace = probe_tracer(probe),
		.address = &run->address,
		.family = run->second ? DIAL_V6 : families[conf_of(run)->ip],
		.timeout = probe_timeout(probe),
		.connecting = on_connecting,
		.done = on_dialed,
		.owner = run,
	};

	dial_destroy(run->dial);
	run->address = (struct conf_address){
		.host = place->host, .port = place->port, .shown = place->host};
	run->connecting = false;
	run->dial = dial_start(&setup);
	run->named = !run->connecting;
	if (run->named)
		probe_phase(probe, PHASE_RESOLVE);
}

/* Goes to where the request goes now, over the connection that it is to have. */
void http_begin(struct http_run *run)
{
	struct probe *probe = probe_of_run(run);
	const struct http_conf *conf = conf_of(run);
	char *problem = run->request.place->tls ? tls_session_refresh(&conf->tls) : NULL;

	if (problem != NULL) {
		http_fail(run, REASON_TLS, problem);
		free(problem);
		return;
	}
	run->reused = conf->kept != NULL && run->redirects == 0 && http_kept_is_ready(conf->kept);
	trace_request(run);
	if (conf->kept != NULL && run->redirects == 0 && !run->reused)
		http_kept_drop(conf->kept);
	if (run->reused) {
		probe_phase(probe, PHASE_SEND);
		transfer(run, -1);
	} else if (conf->unix_socket != NULL && is_home(run)) {
		probe_phase(probe, PHASE_CONNECT);
		transfer(run, -1);
	} else {
		dial(run);
	}
}

static void on_connecting(void *owner)
{
	struct http_run *run = owner;

	run->connecting = true;
	probe_phase(probe_of_run(run), PHASE_CONNECT);
}

static void on_dialed(void *owner, int fd, enum probe_reason reason)
{
	struct http_run *run = owner;

	if (fd < 0) {
		http_fail(run, reason, dial_report(run->dial));
		return;
	}
	probe_phase(probe_of_run(run), run->request.place->tls ? PHASE_TLS : PHASE_SEND);
	transfer(run, fd);
}

static bool on_ready(void *owner)
{
	struct http_run *run = owner;

	run->ready = true;
	probe_phase(probe_of_run(run), PHASE_SEND);
	return true;
}
