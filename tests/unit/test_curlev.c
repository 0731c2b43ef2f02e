// SPDX-License-Identifier: MIT
/* Transfers on the loop: wake-ups, connected sockets over http and https, ownership of handles. */
#include "unit.h"

#include <arpa/inet.h>
#include <ev.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probes/curlev.h"

int __real_close(int fd);
int __wrap_close(int fd);

static int closes_of, closes; /* of one descriptor */

int __wrap_close(int fd)
{
	closes += fd == closes_of;
	return __real_close(fd);
}

/* libcurl's own closes, which the linker cannot wrap. */
static int count_close(void *data, curl_socket_t fd)
{
	(void)data;
	return close(fd);
}

static int listen_on_loopback(struct sockaddr_in *ret_address)
{
	socklen_t length = sizeof(*ret_address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*ret_address = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	assert_return_code(bind(fd, (struct sockaddr *)ret_address, length), 0);
	assert_return_code(listen(fd, 16), 0);
	assert_return_code(getsockname(fd, (struct sockaddr *)ret_address, &length), 0);
	return fd;
}

/* As dial does it: one call that does not block, then a look whether it can be written to. */
static int connect_to(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd look = {.fd = fd, .events = POLLOUT};

	(void)connect(fd, (const struct sockaddr *)address, sizeof(*address));
	assert_int_equal(poll(&look, 1, 1000), 1);
	return fd;
}

/* A server in a thread: one connection, one answer, plain or with TLS; or none at all. */
struct server {
	int listener;
	SSL_CTX *tls; /* NULL: plain */
	char request[2048], name[64]; /* name: of the SNI extension */
	pthread_t thread;
};

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nready";

static void serve_tls(struct server *server, int fd)
{
	SSL *ssl = SSL_new(server->tls);
	const char *name;

	SSL_set_fd(ssl, fd);
	if (SSL_accept(ssl) == 1) {
		name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
		(void)snprintf(server->name, sizeof(server->name), "%s", name ? name : "");
		(void)SSL_read(ssl, server->request, sizeof(server->request) - 1);
		(void)SSL_write(ssl, answer, sizeof(answer) - 1);
		(void)SSL_shutdown(ssl);
	}
	SSL_free(ssl);
}

static void *serve(void *data)
{
	struct server *server = data;
	int fd = accept(server->listener, NULL, NULL);

	if (server->tls != NULL) {
		serve_tls(server, fd);
	} else {
		(void)recv(fd, server->request, sizeof(server->request) - 1, 0);
		(void)send(fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL);
	}
	(void)shutdown(fd, SHUT_WR);
	while (recv(fd, &(char){0}, 1, 0) > 0)
		;
	__real_close(fd);
	return NULL;
}

struct fetch {
	struct curlev_transfer transfer;
	CURLcode result;
	long status;
	char body[64];
	size_t body_length;
	unsigned int done;
};

static size_t keep_body(char *bytes, size_t one, size_t length, void *data)
{
	struct fetch *fetch = data;

	(void)one;
	if (fetch->body_length + length < sizeof(fetch->body)) {
		memcpy(fetch->body + fetch->body_length, bytes, length);
		fetch->body_length += length;
	}
	return length;
}

static void on_done(struct curlev_transfer *transfer, CURLcode result)
{
	struct fetch *fetch = (struct fetch *)transfer;

	fetch->result = result;
	fetch->done++;
	assert_null(transfer->curlev);
	curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &fetch->status);
	ev_break(EV_DEFAULT_ EVBREAK_ALL);
}

static CURL *request(struct fetch *fetch, const char *url)
{
	CURL *easy = curlev_easy(curlev_shared(EV_DEFAULT));

	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, fetch);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 5000L);
	curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, count_close);
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	return easy;
}

static void finish(struct fetch *fetch)
{
	curlev_stop(&fetch->transfer);
	curlev_give_back(curlev_shared(EV_DEFAULT), fetch->transfer.easy);
}

static void a_connected_socket_carries_http(void **state)
{
	struct sockaddr_in address;
	struct server server = {.listener = listen_on_loopback(&address)};
	struct fetch fetch = {0};
	int fd = connect_to(&address);

	(void)state;
	pthread_create(&server.thread, NULL, serve, &server);
	closes_of = fd;
	closes = 0;
	curlev_start_on(curlev_shared(EV_DEFAULT), &fetch.transfer,
		request(&fetch, "http://name.invalid:8080/%2F/../x?a=%20"), fd, on_done);
	ev_run(EV_DEFAULT_ 0);
	pthread_join(server.thread, NULL);
	assert_int_equal(fetch.result, CURLE_OK);
	assert_int_equal(fetch.done, 1);
	assert_int_equal(fetch.status, 200);
	assert_string_equal(fetch.body, "ready");
	assert_string_equal(server.request,
		"GET /%2F/../x?a=%20 HTTP/1.1\r\nHost: name.invalid:8080\r\nAccept: */*\r\n\r\n");
	assert_int_equal(closes, 1);
	finish(&fetch);
	__real_close(server.listener);
}

/* A certificate that signs itself, for one name; also returned as PEM. */
static SSL_CTX *tls_for(const char *name, BIO *ret_pem)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *certificate = X509_new();
	SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
	X509_EXTENSION *extension;
	char names[80];

	X509_set_version(certificate, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
	X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
	X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
		(const unsigned char *)"test", -1, -1, 0);
	X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
	X509_set_pubkey(certificate, key);
	(void)snprintf(names, sizeof(names), "DNS:%s", name);
	extension = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names);
	X509_add_ext(certificate, extension, -1);
	X509_EXTENSION_free(extension);
	assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);
	assert_int_equal(SSL_CTX_use_certificate(tls, certificate), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(tls, key), 1);
	PEM_write_bio_X509(ret_pem, certificate);
	X509_free(certificate);
	EVP_PKEY_free(key);
	return tls;
}

static void fetch_tls(struct fetch *fetch, struct server *server, const char *name, const char *url)
{
	BIO *pem = BIO_new(BIO_s_mem());
	struct sockaddr_in address;
	struct curl_blob ca = {.flags = CURL_BLOB_COPY};
	CURL *easy;
	char *bytes;
	int fd;

	server->listener = listen_on_loopback(&address);
	server->tls = tls_for(name, pem);
	ca.len = (size_t)BIO_get_mem_data(pem, &bytes);
	ca.data = bytes;
	fd = connect_to(&address);
	pthread_create(&server->thread, NULL, serve, server);
	easy = request(fetch, url);
	curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &ca);
	BIO_free(pem);
	closes_of = fd;
	closes = 0;
	curlev_start_on(curlev_shared(EV_DEFAULT), &fetch->transfer, easy, fd, on_done);
	ev_run(EV_DEFAULT_ 0);
	pthread_join(server->thread, NULL);
	assert_int_equal(closes, 1);
	finish(fetch);
	SSL_CTX_free(server->tls);
	__real_close(server->listener);
}

static void a_connected_socket_carries_https_verified_by_the_name_of_the_url(void **state)
{
	struct server server = {0};
	struct fetch fetch = {0};

	(void)state;
	fetch_tls(&fetch, &server, "web.internal", "https://web.internal/");
	assert_int_equal(fetch.result, CURLE_OK);
	assert_int_equal(fetch.status, 200);
	assert_string_equal(server.name, "web.internal");
}

static void a_certificate_for_another_name_fails(void **state)
{
	struct server server = {0};
	struct fetch fetch = {0};

	(void)state;
	fetch_tls(&fetch, &server, "other.internal", "https://web.internal/");
	assert_int_equal(fetch.result, CURLE_PEER_FAILED_VERIFICATION);
	assert_int_equal(fetch.status, 0);
}

/* A timer converted with whole seconds wakes up millions of times. */
static void waiting_costs_no_wake_ups(void **state)
{
	struct sockaddr_in address;
	int listener = listen_on_loopback(&address);
	struct fetch fetch = {0};
	int fd = connect_to(&address);
	CURL *easy = request(&fetch, "http://127.0.0.1/");
	unsigned int before = ev_iteration(EV_DEFAULT);

	(void)state;
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 900L);
	curlev_start_on(curlev_shared(EV_DEFAULT), &fetch.transfer, easy, fd, on_done);
	ev_run(EV_DEFAULT_ 0);
	assert_int_equal(fetch.result, CURLE_OPERATION_TIMEDOUT);
	assert_in_range(ev_iteration(EV_DEFAULT) - before, 1, 20);
	finish(&fetch);
	__real_close(listener);
}

static void a_stopped_transfer_closes_what_it_was_given(void **state)
{
	struct sockaddr_in address;
	int listener = listen_on_loopback(&address);
	struct fetch fetch = {0};
	int fd = connect_to(&address);

	(void)state;
	closes_of = fd;
	closes = 0;
	/* Before libcurl has taken it. */
	curlev_start_on(curlev_shared(EV_DEFAULT), &fetch.transfer,
		request(&fetch, "http://127.0.0.1/"), fd, on_done);
	curlev_stop(&fetch.transfer);
	assert_int_equal(closes, 1);
	finish(&fetch);
	/* And in the middle of its work. */
	fd = closes_of = connect_to(&address);
	closes = 0;
	curlev_start_on(curlev_shared(EV_DEFAULT), &fetch.transfer,
		request(&fetch, "http://127.0.0.1/"), fd, on_done);
	ev_run(EV_DEFAULT_ EVRUN_NOWAIT);
	finish(&fetch);
	assert_int_equal(closes, 1);
	assert_int_equal(fetch.done, 0);
	__real_close(listener);
}

static void no_connection_is_made_behind_our_back(void **state)
{
	struct sockaddr_in address;
	int listener = listen_on_loopback(&address);
	struct fetch fetch = {0};
	char url[64];

	(void)state;
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/", ntohs(address.sin_port));
	curlev_start_on(
		curlev_shared(EV_DEFAULT), &fetch.transfer, request(&fetch, url), -1, on_done);
	ev_run(EV_DEFAULT_ 0);
	assert_int_equal(fetch.result, CURLE_COULDNT_CONNECT);
	finish(&fetch);
	assert_return_code(fcntl(listener, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(accept(listener, NULL, NULL), -1);
	__real_close(listener);
}

static void handles_come_back_empty(void **state)
{
	struct curlev *curlev = curlev_shared(EV_DEFAULT);
	CURL *first = curlev_easy(curlev);
	char *url = NULL;

	(void)state;
	curl_easy_setopt(first, CURLOPT_URL, "http://user:secret@127.0.0.1/");
	curlev_give_back(curlev, first);
	assert_ptr_equal(curlev_easy(curlev), first);
	curl_easy_getinfo(first, CURLINFO_EFFECTIVE_URL, &url);
	assert_true(url == NULL || *url == '\0');
	curlev_give_back(curlev, first);
	curlev_give_back(curlev, NULL);
}

static void destroying_stops_what_runs(void **state)
{
	struct sockaddr_in address;
	int listener = listen_on_loopback(&address);
	struct curlev *curlev = curlev_create(EV_DEFAULT, 4);
	struct fetch fetch = {0};
	CURL *easy = request(&fetch, "http://127.0.0.1/");

	(void)state;
	closes_of = connect_to(&address);
	closes = 0;
	curlev_start_on(curlev, &fetch.transfer, easy, closes_of, on_done);
	ev_run(EV_DEFAULT_ EVRUN_NOWAIT);
	curlev_destroy(curlev);
	assert_null(fetch.transfer.curlev);
	assert_int_equal(fetch.done, 0);
	assert_int_equal(closes, 1);
	curl_easy_cleanup(easy);
	curlev_destroy(NULL);
	__real_close(listener);
}

static int finish_shared(void **state)
{
	(void)state;
	curlev_shared_destroy();
	ev_loop_destroy(EV_DEFAULT);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connected_socket_carries_http),
		cmocka_unit_test(a_connected_socket_carries_https_verified_by_the_name_of_the_url),
		cmocka_unit_test(a_certificate_for_another_name_fails),
		cmocka_unit_test(waiting_costs_no_wake_ups),
		cmocka_unit_test(a_stopped_transfer_closes_what_it_was_given),
		cmocka_unit_test(no_connection_is_made_behind_our_back),
		cmocka_unit_test(handles_come_back_empty),
		cmocka_unit_test(destroying_stops_what_runs),
	};

	/* The server in the thread may write to a client that has left. */
	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, finish_shared);
}
