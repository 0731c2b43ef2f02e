// SPDX-License-Identifier: MIT
/* The redis probe: logs in, asks what the server is and what the user asks, and says QUIT. */
#include <errno.h>
#include <hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/dial.h"
#include "probes/dial_address.h"
#include "probes/redis_judge.h"
#include "probes/secret.h"
#include "probes/secure.h"

#define LONGEST_TIMEOUT 10.0 /* s: a server that answers at all does so at once */

struct redis_run {
	struct dial *dial;
	struct stream *stream;
	struct tls_session tls;
	struct redis_reader *reader;
	char *password; /* NULL: none */
	char *notes; /* what was seen so far; NULL: nothing worth a word */
	char *warnings; /* the same of what is not as it should be */
	size_t step; /* the one whose reply comes next */
	bool securing; /* TLS has begun and is not there yet */
	bool quit; /* the server knows that nothing follows, or would not understand */
	bool finished;
};

static void on_connecting(void *owner);
static void on_dialed(void *owner, int fd, enum probe_reason reason);
static void on_secured(void *owner);
static void on_received(void *owner);
static void on_ended(void *owner, int error);

static const char quit[] = "*1\r\n$4\r\nQUIT\r\n";

static const struct redis_conf *conf_of(struct redis_run *run)
{
	return probe_conf(probe_of_run(run));
}

/* The step whose reply comes next; a session has one at least. */
static const struct redis_step *step_of(struct redis_run *run)
{
	return &conf_of(run)->steps[run->step];
}

static char *redis_target(const void *conf)
{
	const struct redis_conf *redis = conf;

	return xstrdup(redis->address.shown);
}

/* What a server said, without what it knows from us. free(). */
static char *hide_secrets(struct redis_run *run, const char *bytes, size_t *length)
{
	const struct redis_conf *conf = conf_of(run);
	char *shown = secret_hide(run->password, bytes, length), *before;

	for (size_t i = 0; i < conf->hidden.count; i++) {
		before = shown;
		shown = secret_hide(conf->hidden.items[i], before, length);
		free(before);
	}
	return shown;
}

static void finish(
	struct redis_run *run, enum probe_status status, enum probe_reason reason, const char *text)
{
	size_t length = strlen(text);
	char *shown = hide_secrets(run, text, &length);

	run->finished = true;
	probe_finish(probe_of_run(run), status, reason, "%s", shown);
	free(shown);
}

__attribute__((format(printf, 3, 4))) static void fail(
	struct redis_run *run, enum probe_reason reason, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = xvprintf(format, arguments);
	va_end(arguments);
	finish(run, PROBE_CRITICAL, reason, text);
	free(text);
}

static void redis_start(struct probe *probe)
{
	struct redis_run *run = probe_run(probe);
	const struct redis_conf *conf = probe_conf(probe);
	struct sockaddr_storage address;
	char *problem = NULL;

	run->password = secret_read(&conf->password, &problem);
	if (problem != NULL) {
		fail(run, REASON_SECRET, "%s", problem);
		free(problem);
		return;
	}
	if (conf->address.path == NULL && !address_parse(conf->address.host, &address))
		probe_phase(probe, PHASE_RESOLVE);
	run->dial = dial_start(&(struct dial_setup){
		.loop = probe_loop(probe),
		.trace = probe_tracer(probe),
		.address = &conf->address,
		.family = (enum dial_family)conf->ip,
		.timeout = probe_timeout(probe),
		.connecting = on_connecting,
		.done = on_dialed,
		.owner = run,
	});
}

static void on_connecting(void *owner)
{
	probe_phase(probe_of_run(owner), PHASE_CONNECT);
}

static void send_words(struct redis_run *run, int count, const char **words)
{
	char *bytes = NULL;
	int length = redisFormatCommandArgv(&bytes, count, words, NULL);

	if (length < 0)
		xfail();
	stream_send(run->stream, bytes, (size_t)length);
	explicit_bzero(bytes, (size_t)length);
	redisFreeCommand(bytes);
}

static void send_step(struct redis_run *run)
{
	const struct redis_step *step = step_of(run);
	const char **words = xcalloc(step->argc + 1, sizeof(*words));
	size_t count = step->argc;

	memcpy(words, step->argv, step->argc * sizeof(*words));
	if (step->kind == REDIS_AUTH)
		words[count++] = run->password;
	probe_phase(probe_of_run(run), PHASE_SEND);
	send_words(run, (int)count, words);
	free(words);
	/* In one packet with the last: the server then closes when it has answered. */
	run->quit = run->step + 1 == conf_of(run)->step_count;
	if (run->quit)
		stream_send(run->stream, quit, strlen(quit));
}

static void on_dialed(void *owner, int fd, enum probe_reason reason)
{
	struct redis_run *run = owner;
	struct probe *probe = probe_of_run(run);
	const struct redis_conf *conf = conf_of(run);
	char *problem = NULL;

	if (fd < 0) {
		fail(run, reason, "%s", dial_report(run->dial));
		return;
	}
	run->reader = redis_reader_create();
	run->stream = stream_create(&(struct stream_setup){
		.loop = probe_loop(probe),
		.take_fd = fd,
		.received = on_received,
		.ended = on_ended,
		.owner = run,
	});
	if (conf->tls == NULL) {
		send_step(run);
		return;
	}
	run->securing = true;
	problem = secure_begin(probe, run->stream, &run->tls, conf->tls, on_secured);
	if (problem != NULL)
		fail(run, REASON_TLS, "%s", problem);
	free(problem);
}

static void on_secured(void *owner)
{
	struct redis_run *run = owner;

	run->securing = false;
	send_step(run);
}

static void pass(struct redis_run *run)
{
	const char *peer = dial_peer(run->dial);
	char *expiry_text = NULL, *text;
	enum tls_expiry expiry = TLS_EXPIRY_FAR;
	bool fine = run->warnings == NULL;

	if (run->tls.verified)
		expiry = tls_session_expiry(&run->tls, &expiry_text);
	if (expiry == TLS_EXPIRY_CRITICAL) {
		fail(run, REASON_EXPIRY, "%s", expiry_text);
	} else {
		text = xprintf("%s%s%s%s%s", fine ? peer : "", fine ? ": " : "",
			fine ? run->notes : run->warnings, expiry_text == NULL ? "" : "; ",
			expiry_text == NULL ? "" : expiry_text);
		finish(run, fine ? PROBE_PASSING : PROBE_WARNING, fine ? REASON_NONE : REASON_MATCH,
			text);
		free(text);
	}
	free(expiry_text);
}

/* take_text may be NULL. */
static void note(char **notes, char *take_text)
{
	char *before = *notes;

	if (before == NULL || take_text == NULL) {
		*notes = before == NULL ? take_text : before;
		return;
	}
	*notes = xprintf("%s; %s", before, take_text);
	free(before);
	free(take_text);
}

static void show(struct redis_run *run, const struct redis_reply *reply)
{
	size_t length;
	char *text = redis_reply_text(reply, &length);
	char *shown = hide_secrets(run, text, &length);

	probe_output(probe_of_run(run), shown, length);
	free(shown);
	free(text);
}

static void take_reply(struct redis_run *run, const struct redis_reply *reply)
{
	struct probe *probe = probe_of_run(run);
	const struct redis_conf *conf = conf_of(run);
	const struct redis_step *step = step_of(run);
	struct redis_verdict verdict =
		redis_judge(conf, step, reply, probe_values(probe), probe_tracer(probe));

	probe_trace(probe, TRACE_STEP, "%s: %s", step->label, status_name(verdict.status));
	if (verdict.show)
		show(run, reply);
	if (verdict.status == PROBE_CRITICAL) {
		fail(run, verdict.reason, "%s", verdict.text);
		free(verdict.text);
		return;
	}
	note(verdict.status == PROBE_WARNING ? &run->warnings : &run->notes, verdict.text);
	run->step++;
	if (run->step == conf->step_count)
		pass(run);
	else
		send_step(run);
}

static void on_received(void *owner)
{
	struct redis_run *run = owner;
	struct redis_reply *reply;
	enum redis_read read;
	size_t length;
	const char *bytes;

	if (run->finished)
		return;
	probe_phase(probe_of_run(run), PHASE_RECEIVE);
	bytes = stream_bytes(run->stream, &length);
	redis_reader_feed(run->reader, bytes, length);
	stream_consume(run->stream, length);
	while (!run->finished &&
		(read = redis_reader_next(run->reader, &reply)) != REDIS_READ_MORE) {
		if (read == REDIS_READ_REPLY) {
			take_reply(run, reply);
			redis_reply_destroy(reply);
			continue;
		}
		/* Whoever this is, it gets no QUIT. */
		run->quit = true;
		if (read == REDIS_READ_NONSENSE)
			fail(run, REASON_PROTOCOL, "%s: %s", step_of(run)->label,
				redis_reader_problem(run->reader));
		else
			fail(run, REASON_ENGINE,
				"%s: the reply is over 128 KiB or 16384 elements long",
				step_of(run)->label);
	}
}

/* A server that wants TLS takes our first words for a handshake and gives up on us. */
static bool may_want_tls(struct redis_run *run, int error)
{
	return error == ECONNRESET && conf_of(run)->tls == NULL && run->step == 0 &&
		!redis_reader_has_begun(run->reader);
}

static void on_ended(void *owner, int error)
{
	struct redis_run *run = owner;
	const char *label = step_of(run)->label, *text;
	enum probe_reason reason;

	if (run->finished)
		return;
	run->quit = true;
	if (error == 0) {
		fail(run, REASON_CUT, "%s: connection closed %s", label,
			redis_reader_has_begun(run->reader) ? "in the middle of the reply"
							    : "before a reply");
		return;
	}
	reason = secure_end(run->stream, &run->tls, error, &text);
	if (reason == REASON_TLS)
		fail(run, reason, "%s", text);
	else
		fail(run, reason, "%s: %s%s", label, text,
			may_want_tls(run, error) ? "; is this a TLS port?" : "");
}

static void redis_expire(struct probe *probe)
{
	struct redis_run *run = probe_run(probe);

	if (run->stream == NULL)
		probe_seen(probe, "%s", dial_report(run->dial));
	else if (run->securing)
		probe_seen(probe, "connected to %s, no TLS handshake", dial_peer(run->dial));
	else
		probe_seen(probe, "connected to %s, %s to %s", dial_peer(run->dial),
			redis_reader_has_begun(run->reader) ? "half a reply" : "no reply",
			step_of(run)->label);
}

static void redis_cancel(struct probe *probe)
{
	struct redis_run *run = probe_run(probe);

	if (run->stream != NULL && !run->quit && !run->securing)
		stream_part(run->stream, quit, strlen(quit));
	else
		stream_destroy(run->stream);
	run->stream = NULL;
	redis_reader_destroy(run->reader);
	run->reader = NULL;
	tls_session_finish(&run->tls);
	dial_destroy(run->dial);
	run->dial = NULL;
	secret_free(run->password);
	run->password = NULL;
	free(run->notes);
	free(run->warnings);
	run->notes = run->warnings = NULL;
}

const struct probe_type probe_redis = {
	.conf =
		{
			.name = "redis",
			.summary = "Asks a Redis server, a cluster's node or a Sentinel",
			.fields = redis_fields,
			.size = sizeof(struct redis_conf),
			.shorthand = "address",
			.check = redis_check,
			.example = "consul: off\n"
				   "checks:\n"
				   "  - name: cache\n"
				   "    node: true\n"
				   "    redis:\n"
				   "      address: 127.0.0.1:6379\n"
				   "      user: probe\n"
				   "      password: {file: /etc/probity/redis}\n"
				   "      role: replica\n"
				   "      max_lag: {note: 5s, critical: 30s}\n",
		},
	.run_size = sizeof(struct redis_run),
	.longest_timeout = LONGEST_TIMEOUT,
	.target = redis_target,
	.start = redis_start,
	.expire = redis_expire,
	.cancel = redis_cancel,
};
