// SPDX-License-Identifier: MIT
/* The conversation of a tcp probe: its steps, one after another. */
#include "probes/tcp_talk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probes/secret.h"
#include "probes/secure.h"

/*
 * s without more bytes, after which what has come is taken for whole. Pieces of one answer
 * come closer together than a retransmission, which takes 0.2 s at least (TCP_RTO_MIN).
 */
#define QUIET 0.2

static void on_secured(void *owner);
static void on_sent(void *owner);
static void on_received(void *owner);
static void on_quiet(struct ev_loop *loop, ev_timer *timer, int events);
static void on_ended(void *owner, int error);
static void go_on(struct tcp_run *run);

/* The step that the run is at, NULL behind the last. */
static const struct tcp_step *step_of(struct tcp_run *run)
{
	const struct tcp_conf *conf = probe_conf(probe_of_run(run));

	return run->step < conf->script_length ? &conf->script[run->step] : NULL;
}

/* What came back and was not used up is the output wherever it was not what was wanted. */
static void show_received(struct tcp_run *run)
{
	size_t length;
	const char *bytes;

	if (run->stream == NULL)
		return;
	bytes = stream_bytes(run->stream, &length);
	probe_output(probe_of_run(run), bytes, length);
}

void tcp_talk_init(struct tcp_run *run)
{
	ev_timer_init(&run->quiet, on_quiet, 0, QUIET);
	run->quiet.data = run;
}

static void secure(struct tcp_run *run)
{
	struct probe *probe = probe_of_run(run);
	const struct tcp_conf *conf = probe_conf(probe);
	char *problem = secure_begin(probe, run->stream, &run->tls, conf->tls, on_secured);

	run->securing = problem == NULL;
	if (problem != NULL) {
		show_received(run);
		tcp_fail(run, REASON_TLS, "%s", problem);
	}
	free(problem);
}

void tcp_talk_begin(struct tcp_run *run, int take_fd)
{
	struct probe *probe = probe_of_run(run);
	const struct tcp_conf *conf = probe_conf(probe);

	run->heard = false;
	run->stream = stream_create(&(struct stream_setup){
		.loop = probe_loop(probe),
		.take_fd = take_fd,
		.sent = on_sent,
		.received = on_received,
		.ended = on_ended,
		.owner = run,
	});
	if (conf->tls_first)
		secure(run);
	else
		go_on(run);
}

static void on_secured(void *owner)
{
	struct tcp_run *run = owner;
	const struct tcp_step *step = step_of(run);

	run->securing = false;
	if (step != NULL && step->kind == TCP_STARTTLS)
		run->step++;
	go_on(run);
}

/* False where there is nothing to send, and the run is over. */
static bool send_step(struct tcp_run *run, const struct tcp_step *step)
{
	const struct stream_text *text = step->send.bytes != NULL ? &step->send : &step->send_hex;
	const struct conf_secret source = {.file = step->send_file, .prefix = ""};
	char *problem = NULL, *secret = NULL;
	size_t length = text->length;

	if (step->send_file != NULL) {
		secret = secret_read(&source, &problem);
		length = secret == NULL ? 0 : strlen(secret);
	}
	if (problem == NULL) {
		stream_send(run->stream, secret == NULL ? text->bytes : secret, length);
		probe_trace(probe_of_run(run), TRACE_STEP, "%s: %zu bytes", step->label, length);
	} else {
		tcp_fail(run, REASON_SECRET, "%s: %s", step->label, problem);
	}
	secret_free(secret);
	free(problem);
	return !run->finished;
}

/* What came back, to the step that expects it; true if it was that, which is then used up. */
static bool hear(struct tcp_run *run, bool unfinished)
{
	const struct tcp_step *step = step_of(run);
	struct match_subject subject = {.unfinished = unfinished};
	const char *error = NULL;
	size_t taken = 0;

	subject.bytes = stream_bytes(run->stream, &subject.length);
	switch (tcp_step_hear(step, &subject, &taken, &error)) {
	case TCP_HEARD_IT:
		probe_trace(probe_of_run(run), TRACE_STEP, "%s: found in %zu bytes", step->label,
			subject.length);
		stream_consume(run->stream, taken);
		run->step++;
		return true;
	case TCP_HEARD_REJECT:
		show_received(run);
		tcp_fail(run, REASON_MATCH, "%s: what is rejected came back", step->label);
		return false;
	case TCP_HEARD_ERROR:
		show_received(run);
		tcp_fail(run, REASON_ENGINE, "%s: %s", step->label, error);
		return false;
	default:
		return false;
	}
}

/* True if the answer would do, were it known that nothing follows. */
static bool would_do(struct tcp_run *run)
{
	struct match_subject subject = {0};
	const char *error = NULL;
	size_t taken = 0;

	subject.bytes = stream_bytes(run->stream, &subject.length);
	return subject.length > 0 &&
		tcp_step_hear(step_of(run), &subject, &taken, &error) == TCP_HEARD_IT;
}

/* From the step that the run is at, as far as it comes without waiting. */
static void go_on(struct tcp_run *run)
{
	struct probe *probe = probe_of_run(run);
	const struct tcp_step *step;
	bool sent = false;

	ev_timer_stop(probe_loop(probe), &run->quiet);
	while ((step = step_of(run)) != NULL) {
		if (step->kind == TCP_STARTTLS) {
			secure(run);
			return;
		}
		if (step->kind == TCP_EXPECT) {
			if (!hear(run, true))
				break;
			sent = false;
			continue;
		}
		probe_phase(probe, PHASE_SEND);
		if (!send_step(run, step))
			return;
		run->step++;
		sent = true;
	}
	if (run->finished)
		return;
	if (step != NULL && would_do(run))
		ev_timer_again(probe_loop(probe), &run->quiet);
	/* What was sent last is waited for: see on_sent(). */
	if (step == NULL && !sent)
		tcp_conclude(run);
}

static void on_sent(void *owner)
{
	struct tcp_run *run = owner;

	if (!run->finished && step_of(run) == NULL)
		tcp_conclude(run);
}

static void on_received(void *owner)
{
	struct tcp_run *run = owner;
	const struct tcp_step *step = step_of(run);

	run->heard = true;
	if (run->finished || step == NULL || step->kind != TCP_EXPECT)
		return;
	probe_phase(probe_of_run(run), PHASE_RECEIVE);
	go_on(run);
}

static void on_quiet(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct tcp_run *run = timer->data;

	(void)events;
	ev_timer_stop(loop, timer);
	if (hear(run, false))
		go_on(run);
}

static void fail_cut(struct tcp_run *run, int error)
{
	const char *text;
	enum probe_reason reason = secure_end(run->stream, &run->tls, error, &text);

	tcp_fail(run, reason, "%s", text);
}

/* What the run was at when the connection ended, as a complaint. */
static void fail_at_end(struct tcp_run *run, int error)
{
	const struct tcp_step *step = step_of(run);
	const char *label = step == NULL ? "the end" : step->label;
	const char *missing =
		step != NULL && step->kind == TCP_EXPECT ? "not found" : "not reached";

	show_received(run);
	if (error == ENOBUFS)
		tcp_fail(run, REASON_ENGINE, "%s %s in the first 64 KiB", label, missing);
	else if (error != 0)
		fail_cut(run, error);
	else if (!run->heard)
		tcp_fail(run, REASON_CUT, "connection closed before anything was received");
	else
		tcp_fail(run, REASON_MATCH, "%s %s before the connection was closed", label,
			missing);
}

static void on_ended(void *owner, int error)
{
	struct tcp_run *run = owner;
	const struct tcp_step *step = step_of(run);

	if (run->finished)
		return;
	/* Nothing follows: now the end of what came is the end of a line. */
	while (error == 0 && step != NULL && step->kind == TCP_EXPECT && hear(run, false))
		step = step_of(run);
	if (run->finished)
		return;
	if (error == 0 && step == NULL && run->heard)
		tcp_conclude(run);
	else
		fail_at_end(run, error);
}

void tcp_talk_expire(struct tcp_run *run)
{
	struct probe *probe = probe_of_run(run);
	const struct tcp_step *step = step_of(run);

	show_received(run);
	if (run->securing)
		probe_seen(probe, "connected to %s, no TLS handshake", dial_peer(run->dial));
	else if (!run->heard)
		probe_seen(probe, "connected to %s, nothing received", dial_peer(run->dial));
	else
		probe_seen(probe, "connected to %s, %s not %s", dial_peer(run->dial),
			step == NULL ? "all" : step->label, step == NULL ? "sent" : "found");
}
