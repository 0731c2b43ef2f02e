// SPDX-License-Identifier: MIT
/* OpenSSL on a non-blocking socket, its errors in our words. */
#include "probes/tls_pipe.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"

struct tls_pipe {
	struct tls_session *session;
	SSL_CTX *context;
	SSL *ssl;
	char *name;
	char *problem; /* NULL while all is well */
	bool secured; /* the handshake is over */
};

/* SNI holds names only (RFC 6066, section 3). */
static bool set_name(SSL *ssl, const char *name)
{
	X509_VERIFY_PARAM *verify = SSL_get0_param(ssl);

	if (X509_VERIFY_PARAM_set1_ip_asc(verify, name) == 1)
		return true;
	ERR_clear_error();
	X509_VERIFY_PARAM_set_hostflags(verify, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return X509_VERIFY_PARAM_set1_host(verify, name, 0) == 1 &&
		SSL_set_tlsext_host_name(ssl, name) == 1;
}

static char *prepare(struct tls_pipe *pipe, int fd)
{
	bool verify = pipe->session->conf->verify;

	pipe->context = SSL_CTX_new(TLS_client_method());
	if (pipe->context == NULL)
		xfail();
	if (!tls_session_prepare(pipe->session, pipe->context))
		return xstrdup("the client certificate cannot be used");
	SSL_CTX_set_verify(pipe->context, verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
	(void)SSL_CTX_set_options(pipe->context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
	/* The queue moves and shrinks between writes. */
	(void)SSL_CTX_set_mode(pipe->context,
		SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
			SSL_MODE_RELEASE_BUFFERS);
	pipe->ssl = SSL_new(pipe->context);
	if (pipe->ssl == NULL || SSL_set_fd(pipe->ssl, fd) != 1)
		xfail();
	if (!set_name(pipe->ssl, pipe->name))
		return xprintf("'%s' cannot be looked for in a certificate", pipe->name);
	return NULL;
}

struct tls_pipe *tls_pipe_create(
	int fd, struct tls_session *session, const char *name, char **ret_problem)
{
	struct tls_pipe *pipe = xcalloc(1, sizeof(*pipe));
	char *problem;

	pipe->session = session;
	pipe->name = xstrdup(name);
	problem = prepare(pipe, fd);
	ERR_clear_error();
	if (problem == NULL)
		return pipe;
	tls_pipe_destroy(pipe);
	*ret_problem = problem;
	return NULL;
}

static const char *failure_text(const struct tls_pipe *pipe, int error, int system_error)
{
	unsigned long last = ERR_peek_last_error();

	/* SSL_get_error(3): an end without a farewell is an error of the library since 3.0. */
	if (error == SSL_ERROR_SSL && ERR_GET_REASON(last) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
		return pipe->secured ? "the connection was closed without the end of TLS"
				     : "the connection was closed inside the handshake";
	if (error == SSL_ERROR_SYSCALL && system_error != 0)
		return strerror(system_error);
	return pipe->secured ? "broken TLS" : "no handshake; is this a TLS port?";
}

/* What SSL_connect(), SSL_read_ex() or SSL_write_ex() came to. */
static enum tls_step judge(struct tls_pipe *pipe, int result)
{
	int system_error = errno;
	int error = SSL_get_error(pipe->ssl, result);

	switch (error) {
	case SSL_ERROR_WANT_READ:
		return TLS_WANTS_READ;
	case SSL_ERROR_WANT_WRITE:
		return TLS_WANTS_WRITE;
	case SSL_ERROR_ZERO_RETURN:
		return TLS_ENDED;
	default:
		break;
	}
	/* The first is the cause; nothing works after it. */
	if (pipe->problem == NULL)
		pipe->problem = tls_session_failure(pipe->session, SSL_get_verify_result(pipe->ssl),
			pipe->name, failure_text(pipe, error, system_error));
	ERR_clear_error();
	return TLS_FAILED;
}

/* SSL_get_error(3) wants an empty queue before the call that it judges. */
static void clear(void)
{
	ERR_clear_error();
	errno = 0;
}

enum tls_step tls_pipe_handshake(struct tls_pipe *pipe)
{
	int result;

	clear();
	result = SSL_connect(pipe->ssl);
	if (result != 1)
		return judge(pipe, result);
	pipe->secured = true;
	return TLS_DONE;
}

enum tls_step tls_pipe_read(struct tls_pipe *pipe, void *bytes, size_t room, size_t *ret_got)
{
	int result;

	clear();
	result = SSL_read_ex(pipe->ssl, bytes, room, ret_got);
	return result == 1 ? TLS_DONE : judge(pipe, result);
}

enum tls_step tls_pipe_write(
	struct tls_pipe *pipe, const void *bytes, size_t length, size_t *ret_sent)
{
	int result;

	clear();
	result = SSL_write_ex(pipe->ssl, bytes, length, ret_sent);
	return result == 1 ? TLS_DONE : judge(pipe, result);
}

bool tls_pipe_is_pending(const struct tls_pipe *pipe)
{
	return SSL_has_pending(pipe->ssl) == 1;
}

const char *tls_pipe_problem(const struct tls_pipe *pipe)
{
	return pipe->problem == NULL ? "" : pipe->problem;
}

void tls_pipe_destroy(struct tls_pipe *pipe)
{
	if (pipe == NULL)
		return;
	/* SSL_shutdown(3): not after a fatal error, and not inside a handshake. */
	if (pipe->secured && pipe->problem == NULL)
		(void)SSL_shutdown(pipe->ssl);
	ERR_clear_error();
	SSL_free(pipe->ssl);
	SSL_CTX_free(pipe->context);
	free(pipe->name);
	free(pipe->problem);
	free(pipe);
}
