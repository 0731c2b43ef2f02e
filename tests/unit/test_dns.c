// SPDX-License-Identifier: MIT
/* Runs of a dns probe against servers on the same loop: ended anywhere, servers in turn. */
#include "tests/unit/dial_bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "probes/dial_address.h"
#include "probes/dns_run.h"

extern const struct probe_type probe_dns;

/* What the rows say is tested elsewhere. */
const struct conf_field dns_fields[] = {{0}};

bool dns_check(void *conf, const struct conf_node *node, struct conf_load *load)
{
	(void)conf;
	(void)node;
	(void)load;
	return true;
}

bool field_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct conf_text *ret_text)
{
	(void)load;
	(void)field;
	(void)node;
	(void)ret_text;
	return false;
}

bool conf_error(struct conf_load *load, const struct conf_node *node, const char *format, ...)
{
	(void)load;
	(void)node;
	(void)format;
	return false;
}

/* No patterns here. */
enum match_result match_lines(const struct match *match, const char *text,
	struct match_subject *ret_line, const char **ret_error)
{
	(void)match;
	(void)text;
	(void)ret_line;
	(void)ret_error;
	return MATCH_ERROR;
}

/* Two servers of the system, both on loopback. */
static struct sockaddr_storage known[2];
static size_t known_count;

size_t resolve_servers_now(struct ev_loop *loop, struct sockaddr_storage *ret_servers, size_t most)
{
	(void)loop;
	assert_true(known_count <= most);
	memcpy(ret_servers, known, known_count * sizeof(*known));
	return known_count;
}

/* A server over UDP, and a listener at the same port that never says anything. */
static struct {
	ev_io io;
	int listener;
	unsigned int asked;
	unsigned int flags; /* of its answers; 0: silent */
} server;

static void on_question(struct ev_loop *loop, ev_io *io, int events)
{
	unsigned char packet[512];
	struct sockaddr_storage from;
	socklen_t size = sizeof(from);
	ssize_t got = recvfrom(io->fd, packet, sizeof(packet), 0, (struct sockaddr *)&from, &size);

	(void)loop;
	(void)events;
	assert_true(got > 12);
	server.asked++;
	if (server.flags == 0)
		return;
	packet[2] = (unsigned char)(server.flags >> 8);
	packet[3] = (unsigned char)server.flags;
	packet[11] = 0; /* without the OPT record */
	(void)sendto(io->fd, packet, (size_t)got - 11, 0, (struct sockaddr *)&from, size);
}

/* One run, as a runner has it. */
static struct {
	struct dns_conf conf;
	double timeout;
	unsigned int finished;
	enum probe_status status;
	enum probe_reason reason;
	char text[1024], seen[1024];
	_Alignas(max_align_t) unsigned char run[sizeof(struct dns_run)];
} bench;

#define PROBE ((struct probe *)&bench)

const void *probe_conf(const struct probe *probe)
{
	(void)probe;
	return &bench.conf;
}

void *probe_run(struct probe *probe)
{
	(void)probe;
	return bench.run;
}

struct probe *probe_of_run(void *run)
{
	assert_ptr_equal(run, bench.run);
	return PROBE;
}

struct ev_loop *probe_loop(const struct probe *probe)
{
	(void)probe;
	return EV_DEFAULT;
}

double probe_timeout(const struct probe *probe)
{
	(void)probe;
	return bench.timeout;
}

void probe_phase(struct probe *probe, enum probe_phase phase)
{
	(void)probe;
	(void)phase;
}

struct trace *probe_tracer(const struct probe *probe)
{
	(void)probe;
	return NULL;
}

void probe_trace(struct probe *probe, enum trace_kind kind, const char *format, ...)
{
	(void)probe;
	(void)kind;
	(void)format;
}

void probe_output(struct probe *probe, const void *bytes, size_t length)
{
	(void)probe;
	(void)bytes;
	(void)length;
}

void probe_seen(struct probe *probe, const char *format, ...)
{
	va_list arguments;

	(void)probe;
	va_start(arguments, format);
	(void)vsnprintf(bench.seen, sizeof(bench.seen), format, arguments);
	va_end(arguments);
}

void probe_finish(struct probe *probe, enum probe_status status, enum probe_reason reason,
	const char *format, ...)
{
	va_list arguments;

	(void)probe;
	bench.finished++;
	bench.status = status;
	bench.reason = reason;
	va_start(arguments, format);
	(void)vsnprintf(bench.text, sizeof(bench.text), format, arguments);
	va_end(arguments);
}

static void begin(enum dns_protocol protocol, unsigned int flags)
{
	memset(&bench, 0, sizeof(bench));
	bench.timeout = 1;
	bench.conf.question = (struct dns_question){.name = "web.test", .type = DNS_A};
	bench.conf.name_shown = "web.test";
	bench.conf.type_name = "A";
	bench.conf.protocol = (int)protocol;
	bench.conf.rcode.bits = 1U << DNS_NOERROR;
	server.asked = 0;
	server.flags = flags;
	fail_socket = 0;
	ev_now_update(EV_DEFAULT);
	probe_dns.start(PROBE);
}

static void end(void)
{
	probe_dns.cancel(PROBE);
	probe_dns.cancel(PROBE);
	/* What the server still has to read. */
	(void)ev_run(EV_DEFAULT_ EVRUN_NOWAIT);
}

static void run_for(double seconds)
{
	double from = clock_monotonic();

	while (bench.finished == 0 && clock_monotonic() - from < seconds) {
		(void)ev_run(EV_DEFAULT_ EVRUN_NOWAIT);
		(void)usleep(500);
	}
}

static void a_run_may_end_anywhere(void **state)
{
	static const unsigned int flags[] = {0, 0x8180, 0x8380, 0x8182};
	unsigned int before = open_descriptors();

	(void)state;
	known_count = 1;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		for (unsigned int passes = 0; passes < 8; passes++) {
			begin(passes % 2 == 0 ? DNS_OVER_UDP : DNS_OVER_TCP, flags[i]);
			for (unsigned int pass = 0; pass < passes && bench.finished == 0; pass++)
				(void)ev_run(EV_DEFAULT_ EVRUN_NOWAIT);
			end();
			assert_int_equal(open_descriptors(), before);
		}
	}
}

static void an_answer_ends_it_once(void **state)
{
	(void)state;
	known_count = 1;
	begin(DNS_OVER_UDP, 0x8180);
	run_for(2);
	assert_int_equal(bench.finished, 1);
	assert_int_equal(bench.status, PROBE_PASSING); /* none are wanted */
	end();
}

static void want_of_descriptors_is_a_local_failure(void **state)
{
	(void)state;
	known_count = 2;
	for (int protocol = DNS_OVER_UDP; protocol <= DNS_OVER_TCP; protocol++) {
		memset(&bench, 0, sizeof(bench));
		begin((enum dns_protocol)protocol, 0);
		end();
		fail_socket = EMFILE;
		bench.finished = 0;
		probe_dns.start(PROBE);
		run_for(2);
		fail_socket = 0;
		assert_int_equal(bench.finished, 1);
		assert_int_equal(bench.reason, REASON_LOCAL);
		assert_non_null(strstr(bench.text, " Too many open files, "));
		end();
	}
}

static void no_servers_are_said(void **state)
{
	(void)state;
	known_count = 0;
	begin(DNS_OVER_UDP, 0);
	assert_int_equal(bench.finished, 1);
	assert_int_equal(bench.reason, REASON_RESOLVE);
	assert_string_equal(bench.text, "no name server is known");
	end();
}

/* A datagram cannot be sent to a broadcast address: connect() says so at once. */
static void one_that_cannot_be_asked_harms_no_other(void **state)
{
	char wanted[256], *address = address_show(&known[0]);

	(void)state;
	known_count = 2;
	(void)address_parse("255.255.255.255", &known[1]);
	address_set_port(&known[1], 53);
	begin(DNS_OVER_UDP, 0x8380);
	/* Truncated; over TCP silent; then the other; then the first one again, over TCP. */
	run_for(0.8);
	assert_int_equal(bench.finished, 0);
	probe_dns.expire(PROBE);
	(void)snprintf(wanted, sizeof(wanted),
		"%s truncated over UDP, over TCP: connected, no answer, "
		"255.255.255.255:53 Permission denied",
		address);
	assert_string_equal(bench.seen, wanted);
	end();
	known[1] = known[0];
	free(address);
}

static void a_name_that_is_being_looked_up_is_said(void **state)
{
	(void)state;
	begin(DNS_OVER_UDP, 0);
	end();
	bench.conf.server = (struct conf_address){.host = "db.internal", .port = 53};
	resolver.silent = true;
	resolver.cancelled = false;
	probe_dns.start(PROBE);
	probe_dns.expire(PROBE);
	assert_string_equal(bench.seen, "looking up db.internal");
	end();
	assert_true(resolver.cancelled);
	resolver.silent = false;
	resolver.count = 0;
	resolver.error = "no such name";
	probe_dns.start(PROBE);
	run_for(2);
	assert_int_equal(bench.reason, REASON_RESOLVE);
	assert_string_equal(bench.text, "db.internal: no such name");
	end();
}

static int open_servers(void **state)
{
	unsigned int port;
	struct sockaddr_in address;
	int fd;

	(void)state;
	/* Nobody takes what is queued there. */
	server.listener = listen_on("127.0.0.1", 64, &port);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	address = (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_return_code(bind(fd, (struct sockaddr *)&address, sizeof(address)), errno);
	ev_io_init(&server.io, on_question, fd, EV_READ);
	ev_io_start(EV_DEFAULT_ & server.io);
	memcpy(&known[0], &address, sizeof(address));
	known[1] = known[0];
	return 0;
}

static int close_servers(void **state)
{
	(void)state;
	ev_io_stop(EV_DEFAULT_ & server.io);
	(void)close(server.io.fd);
	(void)close(server.listener);
	ev_loop_destroy(EV_DEFAULT);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_may_end_anywhere),
		cmocka_unit_test(an_answer_ends_it_once),
		cmocka_unit_test(want_of_descriptors_is_a_local_failure),
		cmocka_unit_test(no_servers_are_said),
		cmocka_unit_test(one_that_cannot_be_asked_harms_no_other),
		cmocka_unit_test(a_name_that_is_being_looked_up_is_said),
	};

	return cmocka_run_group_tests(tests, open_servers, close_servers);
}
