// SPDX-License-Identifier: MIT
/* Asking systemd: what its words mean, a bus that answers, hangs, lies or is not there. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "probes/clock.h"
#include "runner/unit_state.h"

static const struct {
	const char *load, *active, *job;
	bool stopped;
} cases[] = {
	{"loaded", "active", "", false},
	{"loaded", "active", "restart", false},
	{"loaded", "active", "stop", true},
	{"loaded", "reloading", "", false},
	{"loaded", "activating", "start", false},
	{"loaded", "deactivating", "", true},
	{"loaded", "deactivating", "restart", true},
	{"loaded", "inactive", "", true},
	{"loaded", "inactive", "start", true}, /* between the halves of a restart it is down */
	{"loaded", "failed", "", true},
	{"masked", "inactive", "", true},
	{"not-found", "inactive", "", false},
};

static void the_words_of_systemd(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct unit_state unit = {.name = "web.service",
			.load = cases[i].load,
			.active = cases[i].active,
			.job = cases[i].job};

		if (unit_state_is_stopped(&unit) != cases[i].stopped)
			fail_msg("%s %s %s", unit.load, unit.active, unit.job);
	}
}

/* A bus on the same loop: greets, and answers the one question. */
static struct {
	char path[100];
	int listener;
	ev_io accepting, io;
	sd_bus *peer;
	enum {
		HONEST,
		REFUSING,
		LYING,
	} manner;
	unsigned int names; /* that were asked for */
} bus;

static struct ev_loop *loop;

static struct {
	unsigned int answers, dones;
	char text[400], problem[200];
} seen;

static void on_answer(void *owner, const struct unit_state *state)
{
	size_t used = strlen(seen.text);

	assert_ptr_equal(owner, &seen);
	seen.answers++;
	(void)snprintf(seen.text + used, sizeof(seen.text) - used, "%s %s %s %s; ", state->name,
		state->load, state->active, state->job);
}

static void on_done(void *owner, const char *problem)
{
	assert_ptr_equal(owner, &seen);
	seen.dones++;
	(void)snprintf(seen.problem, sizeof(seen.problem), "%s", problem == NULL ? "" : problem);
	ev_break(loop, EVBREAK_ALL);
}

static int add_unit(sd_bus_message *reply, const char *name, const char *active)
{
	return sd_bus_message_append(reply, "(ssssssouso)", name, "A service", "loaded", active,
		"dead", "", "/org/freedesktop/systemd1/unit/x", 7U, "stop",
		"/org/freedesktop/systemd1/job/7");
}

static int answer_question(sd_bus_message *call)
{
	sd_bus_message *reply = NULL;
	const char *name;

	assert_true(sd_bus_message_enter_container(call, 'a', "s") >= 0);
	while (sd_bus_message_read(call, "s", &name) > 0)
		bus.names++;
	if (bus.manner == REFUSING)
		return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_ACCESS_DENIED, "Not for you");
	assert_true(sd_bus_message_new_method_return(call, &reply) >= 0);
	if (bus.manner == LYING) {
		assert_true(sd_bus_message_append(reply, "s", "all is well") >= 0);
	} else {
		assert_true(sd_bus_message_open_container(reply, 'a', "(ssssssouso)") >= 0);
		assert_true(add_unit(reply, "web.service", "inactive") >= 0);
		assert_true(add_unit(reply, "db.service", "active") >= 0);
		assert_true(sd_bus_message_close_container(reply) >= 0);
	}
	assert_true(sd_bus_send(NULL, reply, NULL) >= 0);
	sd_bus_message_unref(reply);
	return 1;
}

static int on_message(sd_bus_message *message, void *data, sd_bus_error *error)
{
	(void)data;
	(void)error;
	if (sd_bus_message_is_method_call(message, "org.freedesktop.DBus", "Hello") > 0)
		return sd_bus_reply_method_return(message, "s", ":1.1");
	if (sd_bus_message_is_method_call(
		    message, "org.freedesktop.systemd1.Manager", "ListUnitsByNames") > 0)
		return answer_question(message);
	return 0;
}

static void on_peer(struct ev_loop *the_loop, ev_io *watcher, int events)
{
	int result;

	(void)events;
	do {
		result = sd_bus_process(bus.peer, NULL);
	} while (result > 0);
	if (result < 0) /* it has hung up */
		ev_io_stop(the_loop, watcher);
}

static void on_accept(struct ev_loop *the_loop, ev_io *watcher, int events)
{
	const sd_id128_t id =
		SD_ID128_MAKE(01, 02, 03, 04, 05, 06, 07, 08, 09, 0a, 0b, 0c, 0d, 0e, 0f, 10);
	int fd = accept4(watcher->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	assert_true(fd >= 0);
	assert_true(sd_bus_new(&bus.peer) >= 0);
	assert_true(sd_bus_set_fd(bus.peer, fd, fd) >= 0);
	assert_true(sd_bus_set_server(bus.peer, 1, id) >= 0);
	assert_true(sd_bus_add_filter(bus.peer, NULL, on_message, NULL) >= 0);
	assert_true(sd_bus_start(bus.peer) >= 0);
	ev_io_init(&bus.io, on_peer, fd, EV_READ);
	ev_io_start(the_loop, &bus.io);
	/* It has read the greeting already, and no event would tell that it may answer. */
	on_peer(the_loop, &bus.io, EV_READ);
}

/* Listens; takes connections only if it is to answer. */
static void open_bus(bool answers)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char variable[120];

	seen = (__typeof__(seen)){0};
	bus = (__typeof__(bus)){.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	(void)snprintf(bus.path, sizeof(bus.path), "/tmp/probity-bus-%d", (int)getpid());
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", bus.path);
	(void)unlink(bus.path);
	assert_int_equal(bind(bus.listener, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(bus.listener, 4), 0);
	(void)snprintf(variable, sizeof(variable), "unix:path=%s", bus.path);
	assert_int_equal(setenv("DBUS_SYSTEM_BUS_ADDRESS", variable, 1), 0);
	ev_io_init(&bus.accepting, on_accept, bus.listener, EV_READ);
	if (answers)
		ev_io_start(loop, &bus.accepting);
}

static void close_bus(void)
{
	ev_io_stop(loop, &bus.accepting);
	ev_io_stop(loop, &bus.io);
	(void)sd_bus_close_unref(bus.peer);
	(void)close(bus.listener);
	(void)unlink(bus.path);
}

static struct unit_question *ask(double seconds)
{
	static const char *const names[] = {"web.service", "db.service", NULL};
	const struct unit_asker asker = {.loop = loop,
		.seconds = seconds,
		.answer = on_answer,
		.done = on_done,
		.owner = &seen};
	struct unit_question *question = unit_state_ask(&asker, names);

	assert_int_equal(seen.answers + seen.dones, 0);
	return question;
}

static void expect_problem(const char *problem)
{
	assert_int_equal(seen.dones, 1);
	assert_int_equal(seen.answers, 0);
	assert_string_equal(seen.problem, problem);
}

static void an_answer_names_each_unit(void **state)
{
	(void)state;
	open_bus(true);
	(void)ask(10);
	ev_run(loop, 0);
	assert_int_equal(seen.dones, 1);
	assert_string_equal(seen.problem, "");
	assert_string_equal(
		seen.text, "web.service loaded inactive stop; db.service loaded active stop; ");
	assert_int_equal(bus.names, 2);
	close_bus();
}

static void a_refusal_is_a_problem(void **state)
{
	(void)state;
	open_bus(true);
	bus.manner = REFUSING;
	(void)ask(10);
	ev_run(loop, 0);
	expect_problem("systemd: Not for you");
	close_bus();
}

static void another_answer_is_a_problem(void **state)
{
	(void)state;
	open_bus(true);
	bus.manner = LYING;
	(void)ask(10);
	ev_run(loop, 0);
	assert_int_equal(seen.dones, 1);
	assert_int_equal(seen.answers, 0);
	assert_non_null(strstr(seen.problem, "an answer of systemd: "));
	close_bus();
}

static void a_bus_that_hangs_is_waited_for_so_long(void **state)
{
	double begin = clock_monotonic();

	(void)state;
	open_bus(false);
	(void)ask(0.3);
	ev_run(loop, 0);
	expect_problem("systemd: no answer within 0.3s");
	assert_true(clock_monotonic() - begin >= 0.29);
	close_bus();
}

static void no_bus_is_a_problem_at_once(void **state)
{
	(void)state;
	open_bus(false);
	close_bus();
	(void)ask(60);
	ev_run(loop, 0);
	expect_problem("the system bus: No such file or directory");
}

static void a_bus_that_hangs_up_is_a_problem(void **state)
{
	(void)state;
	open_bus(false);
	(void)ask(60);
	close_bus();
	ev_run(loop, 0);
	expect_problem("systemd: Connection terminated");
}

static void a_cancelled_question_says_nothing(void **state)
{
	(void)state;
	open_bus(true);
	unit_state_cancel(ask(60));
	unit_state_cancel(NULL);
	ev_run(loop, EVRUN_NOWAIT);
	assert_int_equal(seen.answers + seen.dones, 0);
	close_bus();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_words_of_systemd),
		cmocka_unit_test(an_answer_names_each_unit),
		cmocka_unit_test(a_refusal_is_a_problem),
		cmocka_unit_test(another_answer_is_a_problem),
		cmocka_unit_test(a_bus_that_hangs_is_waited_for_so_long),
		cmocka_unit_test(no_bus_is_a_problem_at_once),
		cmocka_unit_test(a_bus_that_hangs_up_is_a_problem),
		cmocka_unit_test(a_cancelled_question_says_nothing),
	};

	loop = ev_default_loop(0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
