// SPDX-License-Identifier: MIT
/* Words for transfers that fail, without times and byte counts. */
#include "probes/http_failure.h"

#include <string.h>

#include "config/arena.h"
#include "probes/http_tls.h"

/* libcurl's own words hold times and byte counts; what is missing here says curl_easy_strerror().
 */
static const struct {
	CURLcode code;
	enum probe_reason reason;
	const char *text;
} failures[] = {
	{CURLE_UNSUPPORTED_PROTOCOL, REASON_PROTOCOL, "the answer is not HTTP"},
	{CURLE_WEIRD_SERVER_REPLY, REASON_PROTOCOL, "the answer is not HTTP"},
	{CURLE_URL_MALFORMAT, REASON_PROTOCOL, "not a URL that can be asked"},
	/* libcurl's dynamic buffers say so when they are full; a line of 100 KiB fills one. */
	{CURLE_OUT_OF_MEMORY, REASON_PROTOCOL, "a header is too long"},
	{CURLE_BAD_CONTENT_ENCODING, REASON_PROTOCOL, "the body cannot be decoded"},
	{CURLE_WRITE_ERROR, REASON_PROTOCOL, "the body cannot be decoded"},
	{CURLE_COULDNT_CONNECT, REASON_CONNECT, "the connection was lost at once"},
	{CURLE_GOT_NOTHING, REASON_CUT, "the connection was closed without an answer"},
	{CURLE_PARTIAL_FILE, REASON_CUT, "the connection was closed inside the body"},
	{CURLE_SEND_ERROR, REASON_CUT, "the connection was lost while the request was sent"},
	{CURLE_RECV_ERROR, REASON_CUT, "the connection was lost"},
	{CURLE_HTTP2, REASON_PROTOCOL, "an error in HTTP/2"},
	{CURLE_HTTP2_STREAM, REASON_CUT, "the stream was reset"},
	{CURLE_SSL_CERTPROBLEM, REASON_TLS, "the client certificate cannot be used"},
	{CURLE_SSL_CONNECT_ERROR, REASON_TLS, "no handshake; is this a TLS port?"},
	{CURLE_PEER_FAILED_VERIFICATION, REASON_TLS, "the certificate is not valid"},
	/* Only where http_tls finds that libcurl has put its own authorities in place of ours. */
	{CURLE_ABORTED_BY_CALLBACK, REASON_TLS, "verified by other authorities than asked for"},
};

void http_failure_ask(struct http_failure *failure, CURL *easy)
{
	long error = 0;

	(void)curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &error);
	(void)curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &failure->verified);
	failure->error = (int)error;
}

enum probe_reason http_failure_judge(const struct http_failure *failure, char **ret_text)
{
	enum probe_reason reason = REASON_PROTOCOL;
	const char *text = curl_easy_strerror(failure->result);

	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		if (failures[i].code == failure->result) {
			reason = failures[i].reason;
			text = failures[i].text;
		}
	}
	/* A client certificate that TLS 1.3 refuses shows at the first read only. */
	if (reason == REASON_TLS || failure->tls->alert != NULL) {
		*ret_text = tls_session_failure(failure->tls,
			http_tls_verdict(failure->result, failure->verified), failure->name, text);
		return REASON_TLS;
	}
	if (failure->result == CURLE_COULDNT_CONNECT && failure->socket != NULL)
		*ret_text = xprintf("%s %s", failure->socket, strerror(failure->error));
	else if (reason != REASON_PROTOCOL && failure->error != 0)
		*ret_text = xprintf("%s: %s", text, strerror(failure->error));
	else
		*ret_text = xstrdup(text);
	return reason;
}
