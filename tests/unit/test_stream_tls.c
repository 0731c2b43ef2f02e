// SPDX-License-Identifier: MIT
/* TLS below a stream, against a server in the same process. */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/stream.h"
#include "probes/tls_session.h"
#include "probes/tls_trust.h"
#include "tests/unit/no_loader.h"
#include "tests/unit/tls_bench.h"

static SSL_CTX *server_context;
static char authority[] = "/tmp/probity-authority-XXXXXX";
static struct tls_conf conf = {.verify = true};

struct talk {
	struct stream *stream;
	struct tls_session session;
	int peer;
	SSL *server; /* NULL: the peer speaks in clear */
	unsigned int secured, received, sent, ended;
	int error;
};

static void on_secured(void *owner)
{
	((struct talk *)owner)->secured++;
}

static void on_received(void *owner)
{
	((struct talk *)owner)->received++;
}

static void on_sent(void *owner)
{
	((struct talk *)owner)->sent++;
}

static void on_ended(void *owner, int error)
{
	struct talk *talk = owner;

	talk->ended++;
	talk->error = error;
}

static int set_up(void **unused)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *certificate = tls_bench_certificate(key);
	FILE *file = fdopen(mkstemp(authority), "w");

	(void)unused;
	assert_non_null(file);
	assert_int_equal(PEM_write_X509(file, certificate), 1);
	assert_int_equal(fclose(file), 0);
	server_context = SSL_CTX_new(TLS_server_method());
	assert_int_equal(SSL_CTX_use_certificate(server_context, certificate), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(server_context, key), 1);
	X509_free(certificate);
	EVP_PKEY_free(key);
	conf.trust = tls_trust_share(authority);
	assert_null(tls_session_refresh(&conf));
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	SSL_CTX_free(server_context);
	tls_trust_release(conf.trust);
	return unlink(authority);
}

static struct talk *begin(struct talk *talk)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_return_code(bind(listener, (struct sockaddr *)&address, length), errno);
	assert_return_code(listen(listener, 1), errno);
	assert_return_code(getsockname(listener, (struct sockaddr *)&address, &length), errno);
	assert_return_code(connect(fd, (struct sockaddr *)&address, length), errno);
	*talk = (struct talk){.peer = accept(listener, NULL, NULL), .session = {.conf = &conf}};
	close(listener);
	assert_return_code(fcntl(fd, F_SETFL, O_NONBLOCK), errno);
	assert_return_code(fcntl(talk->peer, F_SETFL, O_NONBLOCK), errno);
	assert_return_code(
		setsockopt(talk->peer, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)), errno);
	talk->stream = stream_create(&(struct stream_setup){
		.loop = EV_DEFAULT,
		.take_fd = fd,
		.received = on_received,
		.sent = on_sent,
		.ended = on_ended,
		.owner = talk,
	});
	return talk;
}

static void start_tls(struct talk *talk, const char *name)
{
	char *problem = stream_start_tls(talk->stream,
		&(struct stream_tls){
			.session = &talk->session, .name = name, .secured = on_secured});

	assert_null(problem);
}

static void accept_tls(struct talk *talk)
{
	talk->server = SSL_new(server_context);
	assert_int_equal(SSL_set_fd(talk->server, talk->peer), 1);
	SSL_set_accept_state(talk->server);
}

/* Both ends in turns, until the handshake is over on both or one has given up. */
static void shake_hands(struct talk *talk)
{
	for (int i = 0; i < 200 && talk->ended == 0; i++) {
		ERR_clear_error();
		if (SSL_do_handshake(talk->server) == 1 && talk->secured > 0)
			break;
		ev_run(EV_DEFAULT_ EVRUN_NOWAIT);
	}
}

static void run(void)
{
	for (int i = 0; i < 50; i++)
		ev_run(EV_DEFAULT_ EVRUN_NOWAIT);
}

static void end(struct talk *talk)
{
	stream_destroy(talk->stream);
	tls_session_finish(&talk->session);
	SSL_free(talk->server);
	if (talk->peer >= 0)
		close(talk->peer);
	ERR_clear_error();
}

static void secure(struct talk *talk)
{
	begin(talk);
	start_tls(talk, "web");
	accept_tls(talk);
	shake_hands(talk);
	assert_int_equal(talk->secured, 1);
	assert_int_equal(talk->ended, 0);
	assert_true(talk->session.verified);
	assert_string_equal(talk->session.ending, "CN=web");
	assert_true(talk->session.ends > 0);
}

static void bytes_go_both_ways(void **unused)
{
	struct talk talk;
	char heard[16];
	size_t length;

	(void)unused;
	secure(&talk);
	stream_send(talk.stream, "EHLO me\r\n", 9);
	run();
	assert_int_equal(talk.sent, 1);
	assert_int_equal(SSL_read(talk.server, heard, sizeof(heard)), 9);
	assert_memory_equal(heard, "EHLO me\r\n", 9);
	assert_int_equal(SSL_write(talk.server, "250 ok\r\n", 8), 8);
	run();
	assert_memory_equal(stream_bytes(talk.stream, &length), "250 ok\r\n", 8);
	assert_int_equal(length, 8);
	end(&talk);
}

/* One record is 16 KiB; OpenSSL has taken it from the socket before the window has room. */
static void a_whole_record_arrives(void **unused)
{
	static char much[16000];
	struct talk talk;
	size_t length;

	(void)unused;
	memset(much, 'x', sizeof(much));
	secure(&talk);
	assert_int_equal(SSL_write(talk.server, much, sizeof(much)), sizeof(much));
	run();
	(void)stream_bytes(talk.stream, &length);
	assert_int_equal(length, sizeof(much));
	assert_true(talk.received > 1);
	end(&talk);
}

static void an_orderly_end_is_told_from_a_cut(void **unused)
{
	struct talk talk;

	(void)unused;
	secure(&talk);
	assert_return_code(SSL_shutdown(talk.server), 0);
	run();
	assert_int_equal(talk.ended, 1);
	assert_int_equal(talk.error, 0);
	end(&talk);

	secure(&talk);
	close(talk.peer);
	talk.peer = -1;
	run();
	assert_int_equal(talk.ended, 1);
	assert_int_equal(talk.error, EPROTO);
	assert_string_equal(
		stream_problem(talk.stream), "the connection was closed without the end of TLS");
	end(&talk);
}

static void fails_with(struct talk *talk, const char *problem)
{
	assert_int_equal(talk->secured, 0);
	assert_int_equal(talk->ended, 1);
	assert_int_equal(talk->error, EPROTO);
	assert_string_equal(stream_problem(talk->stream), problem);
	end(talk);
}

static void another_name_is_refused(void **unused)
{
	struct talk talk;

	(void)unused;
	begin(&talk);
	start_tls(&talk, "other");
	accept_tls(&talk);
	shake_hands(&talk);
	fails_with(&talk, "hostname mismatch: the certificate is not for other");
	begin(&talk);
	start_tls(&talk, "127.0.0.2");
	accept_tls(&talk);
	shake_hands(&talk);
	fails_with(&talk, "hostname mismatch: the certificate is not for 127.0.0.2");
}

static void a_stranger_is_refused_unless_nobody_looks(void **unused)
{
	struct tls_conf strict = {.verify = true, .trust = tls_trust_share(NULL)};
	struct tls_conf loose = {.verify = false, .trust = strict.trust};
	struct talk talk;

	(void)unused;
	assert_null(tls_session_refresh(&strict));
	begin(&talk);
	talk.session.conf = &strict;
	start_tls(&talk, "web");
	accept_tls(&talk);
	shake_hands(&talk);
	fails_with(&talk, "self-signed certificate");

	begin(&talk);
	talk.session.conf = &loose;
	start_tls(&talk, "other");
	accept_tls(&talk);
	shake_hands(&talk);
	assert_int_equal(talk.secured, 1);
	end(&talk);
	tls_trust_release(strict.trust);
}

static void a_peer_without_tls_is_named(void **unused)
{
	struct talk talk;

	(void)unused;
	begin(&talk);
	start_tls(&talk, "web");
	assert_int_equal(send(talk.peer, "220 mx ESMTP\r\n", 14, 0), 14);
	run();
	fails_with(&talk, "no handshake; is this a TLS port?");

	begin(&talk);
	start_tls(&talk, "web");
	run();
	/* What the client has said is read, so that closing is no reset. */
	while (recv(talk.peer, (char[512]){0}, 512, 0) > 0)
		;
	close(talk.peer);
	talk.peer = -1;
	run();
	fails_with(&talk, "the connection was closed inside the handshake");
}

static void what_came_in_clear_is_not_taken_for_encrypted(void **unused)
{
	struct talk talk;
	char *problem;

	(void)unused;
	begin(&talk);
	assert_int_equal(send(talk.peer, "250 injected\r\n", 14, 0), 14);
	run();
	problem = stream_start_tls(talk.stream,
		&(struct stream_tls){
			.session = &talk.session, .name = "web", .secured = on_secured});
	assert_non_null(problem);
	assert_non_null(strstr(problem, "in clear"));
	free(problem);
	end(&talk);
}

static void the_server_hears_goodbye(void **unused)
{
	struct talk talk;
	char waste[8];

	(void)unused;
	secure(&talk);
	stream_destroy(talk.stream);
	talk.stream = NULL;
	assert_int_equal(SSL_read(talk.server, waste, sizeof(waste)), 0);
	assert_int_equal(SSL_get_error(talk.server, 0), SSL_ERROR_ZERO_RETURN);
	end(&talk);
}

static void many_leave_nothing_behind(void **unused)
{
	unsigned int before = tls_bench_descriptors();
	struct talk talk;

	(void)unused;
	for (int i = 0; i < 100; i++) {
		secure(&talk);
		end(&talk);
	}
	assert_int_equal(tls_bench_descriptors(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_go_both_ways),
		cmocka_unit_test(a_whole_record_arrives),
		cmocka_unit_test(an_orderly_end_is_told_from_a_cut),
		cmocka_unit_test(another_name_is_refused),
		cmocka_unit_test(a_stranger_is_refused_unless_nobody_looks),
		cmocka_unit_test(a_peer_without_tls_is_named),
		cmocka_unit_test(what_came_in_clear_is_not_taken_for_encrypted),
		cmocka_unit_test(the_server_hears_goodbye),
		cmocka_unit_test(many_leave_nothing_behind),
	};

	(void)signal(SIGPIPE, SIG_IGN); /* as child_setup() does */
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
