// SPDX-License-Identifier: MIT
/* One question to systemd: sd-bus on the loop, with a limit on the whole. */
#include "runner/unit_state.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "config/arena.h"

struct unit_question {
	struct unit_asker asker;
	sd_bus *bus;
	ev_io io;
	ev_timer limit;
	char *problem; /* NULL: none so far */
	bool answered;
};

static bool is(const char *text, const char *word)
{
	return strcmp(text, word) == 0;
}

bool unit_state_is_stopped(const struct unit_state *state)
{
	/* A misspelt name is inactive as well. Taken at its word it would make every restart of
	 * ours an outage. */
	if (is(state->load, "not-found"))
		return false;
	return is(state->active, "inactive") || is(state->active, "failed") ||
		is(state->active, "deactivating") || is(state->job, "stop");
}

void unit_state_cancel(struct unit_question *question)
{
	if (question == NULL)
		return;
	ev_io_stop(question->asker.loop, &question->io);
	ev_timer_stop(question->asker.loop, &question->limit);
	/* Without a flush, which might wait. */
	(void)sd_bus_close_unref(question->bus);
	free(question->problem);
	free(question);
}

static void finish(struct unit_question *question)
{
	const struct unit_asker asker = question->asker;
	char *problem = question->problem;

	question->problem = NULL;
	unit_state_cancel(question);
	asker.done(asker.owner, problem);
	free(problem);
}

static void fail(struct unit_question *question, const char *what, int error)
{
	if (question->problem == NULL)
		question->problem = xprintf("%s: %s", what, strerror(-error));
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct unit_question *question = timer->data;

	(void)loop;
	(void)events;
	if (question->problem == NULL)
		question->problem =
			xprintf("systemd: no answer within %gs", question->asker.seconds);
	finish(question);
}

/* sd-bus gives poll(2)'s events, and they change with each step. */
static void watch(struct unit_question *question)
{
	struct ev_loop *loop = question->asker.loop;
	int fd = sd_bus_get_fd(question->bus);
	int wanted = sd_bus_get_events(question->bus);

	ev_io_stop(loop, &question->io);
	if (fd < 0 || wanted < 0) {
		fail(question, "the system bus", fd < 0 ? fd : wanted);
		return;
	}
	ev_io_set(&question->io, fd,
		((wanted & POLLIN) != 0 ? EV_READ : 0) | ((wanted & POLLOUT) != 0 ? EV_WRITE : 0));
	ev_io_start(loop, &question->io);
}

static void on_io(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct unit_question *question = watcher->data;
	int result;

	(void)loop;
	(void)events;
	do {
		result = sd_bus_process(question->bus, NULL);
	} while (result > 0 && !question->answered);
	if (result < 0)
		fail(question, "the system bus", result);
	if (!question->answered && question->problem == NULL)
		watch(question);
	if (question->answered || question->problem != NULL)
		finish(question);
}

/* a(ssssssouso): name, description, load, active, sub, following, path, job id, job, job's path. */
static int read_units(struct unit_question *question, sd_bus_message *reply)
{
	struct unit_state state;
	int result = sd_bus_message_enter_container(reply, 'a', "(ssssssouso)");

	while (result >= 0) {
		result = sd_bus_message_read(reply, "(ssssssouso)", &state.name, NULL, &state.load,
			&state.active, NULL, NULL, NULL, NULL, &state.job, NULL);
		if (result <= 0)
			break;
		question->asker.answer(question->asker.owner, &state);
	}
	return result;
}

/* sd_bus_message_handler_t */
static int on_reply(sd_bus_message *reply, void *data, sd_bus_error *unused)
{
	struct unit_question *question = data;
	const sd_bus_error *error = sd_bus_message_get_error(reply);
	int result;

	(void)unused;
	question->answered = true;
	if (error != NULL) {
		question->problem = xprintf("systemd: %s", error->message);
		return 0;
	}
	result = read_units(question, reply);
	if (result < 0)
		fail(question, "an answer of systemd", result);
	return 0;
}

static int send_question(struct unit_question *question, const char *const *names)
{
	sd_bus_message *call = NULL;
	int result = sd_bus_message_new_method_call(question->bus, &call,
		"org.freedesktop.systemd1", "/org/freedesktop/systemd1",
		"org.freedesktop.systemd1.Manager", "ListUnitsByNames");

	if (result < 0)
		return result;
	/* What does not run is not to be started for an answer. */
	result = sd_bus_message_set_auto_start(call, 0);
	if (result >= 0)
		result = sd_bus_message_append_strv(call, (char **)names); /* NOLINT: reads them */
	/* The limit is ours: that of sd-bus counts from the end of its greeting. */
	if (result >= 0)
		result = sd_bus_call_async(
			question->bus, NULL, call, on_reply, question, UINT64_MAX);
	(void)sd_bus_message_unref(call);
	return result;
}

struct unit_question *unit_state_ask(const struct unit_asker *asker, const char *const *names)
{
	struct unit_question *question = xcalloc(1, sizeof(*question));
	int result;

	question->asker = *asker;
	ev_init(&question->io, on_io);
	question->io.data = question;
	/* Connects and greets without waiting. */
	result = sd_bus_open_system(&question->bus);
	if (result >= 0)
		result = send_question(question, names);
	if (result < 0)
		fail(question, "the system bus", result);
	else
		watch(question);
	ev_now_update(asker->loop);
	ev_timer_init(
		&question->limit, on_limit, question->problem == NULL ? asker->seconds : 0, 0);
	question->limit.data = question;
	ev_timer_start(asker->loop, &question->limit);
	return question;
}
