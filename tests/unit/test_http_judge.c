// SPDX-License-Identifier: MIT
/* Verdicts: every mix of status, body and assertions, and every way a transfer can fail. */
#include "unit.h"

#include <curl/curl.h>
#include <errno.h>
#include <openssl/x509_vfy.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/http_judge.h"
#include "probes/probe.h"
#include "tests/unit/no_loader.h"

/* Patterns are their own results here. */
struct match {
	enum match_result result;
};

static const struct match yes = {MATCH_YES}, no = {MATCH_NO}, broken = {MATCH_ERROR};

enum match_result match_bytes(
	const struct match *match, const void *bytes, size_t length, const char **ret_error)
{
	assert_non_null(bytes);
	(void)length;
	if (match->result == MATCH_ERROR)
		*ret_error = "effort limit";
	return match->result;
}

/* What the assertions on JSON are to come to. */
static enum probe_status json_status;
static struct conf_items one_assertion = {.count = 1};

struct json_verdict match_json(
	const struct conf_items *assertions, const char *bytes, size_t length, struct trace *trace)
{
	struct json_verdict verdict = {.status = json_status};

	assert_int_equal(assertions->count, 1);
	assert_non_null(bytes);
	(void)length;
	assert_null(trace);
	measures_add(&verdict.values, "/lag", 7, "");
	if (json_status != PROBE_PASSING) {
		verdict.reason = REASON_MATCH;
		verdict.text = xstrdup("/lag is high");
	}
	return verdict;
}

struct trace *probe_tracer(const struct probe *probe)
{
	(void)probe;
	fail();
	return NULL;
}

const char *match_shown(const struct match *match)
{
	(void)match;
	return "pattern";
}

/* The loader's part, which nothing here reaches. */
const struct conf_kind match_pattern;

static struct http_conf conf;
static const struct tls_session quiet, alerted = {.alert = "bad certificate"};

static double wall;

double __wrap_clock_wall(void);

double __wrap_clock_wall(void)
{
	return wall;
}

static void set_up(void)
{
	conf = (struct http_conf){.max_body = 1024};
	for (long status = 200; status < 300; status++)
		code_set_add(&conf.passing_status, status);
	code_set_add(&conf.warning_status, 429);
}

static struct http_answer answered(long status)
{
	return (struct http_answer){.conf = &conf, .status = status, .head_done = true};
}

static void expect(struct http_verdict verdict, enum probe_status status, enum probe_reason reason,
	const char *text)
{
	assert_int_equal(verdict.status, status);
	assert_int_equal(verdict.reason, reason);
	assert_string_equal(verdict.text, text);
	free(verdict.text);
}

static void test_the_status_decides_where_nothing_is_asserted(void **state)
{
	(void)state;
	set_up();
	for (long status = 0; status < 1000; status++) {
		struct http_answer answer = answered(status);
		struct http_verdict verdict = http_judge(&answer);

		if (status >= 200 && status <= 299)
			assert_int_equal(verdict.status, PROBE_PASSING);
		else if (status == 429)
			assert_int_equal(verdict.status, PROBE_WARNING);
		else
			assert_int_equal(verdict.status, PROBE_CRITICAL);
		free(verdict.text);
	}
}

static void test_half_a_head_is_no_answer(void **state)
{
	struct http_answer answer = answered(200);

	(void)state;
	set_up();
	answer.head_done = false;
	expect(http_judge(&answer), PROBE_CRITICAL, REASON_CUT,
		"HTTP 200, the connection was closed inside the headers");
	answer = answered(0);
	expect(http_judge(&answer), PROBE_CRITICAL, REASON_PROTOCOL, "the answer is not HTTP");
}

/* Every mix of the two assertions with a body that is whole or cut off at the window. */
static void test_assertions(void **state)
{
	static const struct {
		const struct match *match, *reject;
		bool capped;
		enum probe_status status;
		enum probe_reason reason;
	} rows[] = {
		{NULL, NULL, false, PROBE_PASSING, REASON_NONE},
		{NULL, NULL, true, PROBE_PASSING, REASON_NONE},
		{&yes, NULL, false, PROBE_PASSING, REASON_NONE},
		{&no, NULL, false, PROBE_CRITICAL, REASON_MATCH},
		{&broken, NULL, false, PROBE_CRITICAL, REASON_ENGINE},
		{NULL, &yes, false, PROBE_CRITICAL, REASON_MATCH},
		{NULL, &no, false, PROBE_PASSING, REASON_NONE},
		{NULL, &broken, false, PROBE_CRITICAL, REASON_ENGINE},
		{&yes, &no, false, PROBE_PASSING, REASON_NONE},
		{&yes, &yes, false, PROBE_CRITICAL, REASON_MATCH},
		{&yes, &broken, false, PROBE_CRITICAL, REASON_ENGINE},
		{&no, &no, false, PROBE_CRITICAL, REASON_MATCH},
		{&broken, &no, false, PROBE_CRITICAL, REASON_ENGINE},
		{&yes, NULL, true, PROBE_PASSING, REASON_NONE},
		{&no, NULL, true, PROBE_CRITICAL, REASON_ENGINE},
		{NULL, &no, true, PROBE_CRITICAL, REASON_ENGINE},
		{NULL, &yes, true, PROBE_CRITICAL, REASON_MATCH},
		{&yes, &no, true, PROBE_CRITICAL, REASON_ENGINE},
		{&broken, NULL, true, PROBE_CRITICAL, REASON_ENGINE},
	};

	(void)state;
	set_up();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct http_answer answer = answered(200);
		struct http_verdict verdict;

		conf.body_match = rows[i].match;
		conf.body_reject = rows[i].reject;
		answer.capped = rows[i].capped;
		verdict = http_judge(&answer);
		assert_int_equal(verdict.status, rows[i].status);
		assert_int_equal(verdict.reason, rows[i].reason);
		free(verdict.text);
		/* An assertion that holds makes no bad status good, nor worse than it is. */
		answer.status = 500;
		expect(http_judge(&answer), PROBE_CRITICAL, REASON_STATUS, "HTTP 500");
		answer.status = 429;
		verdict = http_judge(&answer);
		assert_int_equal(verdict.status,
			rows[i].status == PROBE_PASSING ? PROBE_WARNING : PROBE_CRITICAL);
		free(verdict.text);
	}
}

static void test_words_of_assertions(void **state)
{
	struct http_answer answer = answered(200);

	(void)state;
	set_up();
	conf.body_match = &no;
	expect(http_judge(&answer), PROBE_CRITICAL, REASON_MATCH,
		"HTTP 200, but body_match is not in the body");
	answer.capped = true;
	expect(http_judge(&answer), PROBE_CRITICAL, REASON_ENGINE,
		"HTTP 200, body exceeds match window");
	conf.body_match = &broken;
	expect(http_judge(&answer), PROBE_CRITICAL, REASON_ENGINE,
		"HTTP 200, body_match: effort limit");
	conf.body_match = NULL;
	conf.body_reject = &yes;
	expect(http_judge(&answer), PROBE_CRITICAL, REASON_MATCH,
		"HTTP 200, but body_reject is in the body");
}

/* Every mix of what JSON says with a status, another assertion, and a body that is cut off. */
static void test_json_makes_a_verdict_worse_and_never_better(void **state)
{
	static const long statuses[] = {200, 429, 500};

	(void)state;
	set_up();
	conf.json = one_assertion;
	for (int json = PROBE_PASSING; json <= PROBE_CRITICAL; json++) {
		for (int status = PROBE_PASSING; status <= PROBE_CRITICAL; status++) {
			struct http_answer answer = answered(statuses[status]);
			struct http_verdict verdict;

			json_status = (enum probe_status)json;
			verdict = http_judge(&answer);
			assert_int_equal(verdict.status, json > status ? json : status);
			assert_int_equal(verdict.values.count, status == PROBE_CRITICAL ? 0 : 1);
			measures_clear(&verdict.values);
			free(verdict.text);
			/* Half a document is none, whatever it says. */
			answer.capped = true;
			verdict = http_judge(&answer);
			assert_int_equal(verdict.status, PROBE_CRITICAL);
			assert_int_equal(verdict.values.count, 0);
			free(verdict.text);
		}
	}
}

static void test_words_of_json(void **state)
{
	struct http_answer answer = answered(429);
	struct http_verdict verdict;

	(void)state;
	set_up();
	conf.json = one_assertion;
	json_status = PROBE_WARNING;
	verdict = http_judge(&answer);
	measures_clear(&verdict.values);
	expect(verdict, PROBE_WARNING, REASON_MATCH, "HTTP 429, /lag is high");
	conf.body_match = &no;
	expect(http_judge(&answer), PROBE_CRITICAL, REASON_MATCH,
		"HTTP 429, but body_match is not in the body");
	conf.body_match = &yes;
	answer.capped = true;
	expect(http_judge(&answer), PROBE_CRITICAL, REASON_ENGINE,
		"HTTP 429, body exceeds match window");
}

static void test_a_failed_transfer_never_passes(void **state)
{
	(void)state;
	set_up();
	for (int code = 1; code < CURL_LAST; code++) {
		struct http_answer answer = answered(200);
		struct http_failure failure = {
			.result = (CURLcode)code, .tls = &quiet, .name = "web"};
		struct http_verdict verdict = http_judge_failure(&answer, &failure);

		assert_int_equal(verdict.status, PROBE_CRITICAL);
		assert_true(verdict.reason != REASON_NONE);
		assert_true(*verdict.text != '\0');
		free(verdict.text);
	}
}

static void test_words_of_failures(void **state)
{
	static const struct {
		struct http_failure failure;
		long status;
		enum probe_reason reason;
		const char *text;
	} rows[] = {
		{{.result = CURLE_PARTIAL_FILE}, 200, REASON_CUT,
			"HTTP 200, the connection was closed inside the body"},
		{{.result = CURLE_GOT_NOTHING}, 0, REASON_CUT,
			"the connection was closed without an answer"},
		{{.result = CURLE_RECV_ERROR, .error = ECONNRESET}, 0, REASON_CUT,
			"the connection was lost: Connection reset by peer"},
		{{.result = CURLE_RECV_ERROR, .tls = &alerted}, 0, REASON_TLS,
			"the server refuses: bad certificate"},
		{{.result = CURLE_SSL_CONNECT_ERROR}, 0, REASON_TLS,
			"no handshake; is this a TLS port?"},
		{{.result = CURLE_PEER_FAILED_VERIFICATION,
			 .verified = X509_V_ERR_CERT_HAS_EXPIRED},
			0, REASON_TLS, "certificate has expired"},
		{{.result = CURLE_PEER_FAILED_VERIFICATION, .verified = X509_V_OK, .name = "web"},
			0, REASON_TLS, "hostname mismatch: the certificate is not for web"},
		{{.result = CURLE_HTTP2, .error = ECONNRESET}, 0, REASON_PROTOCOL,
			"an error in HTTP/2"},
	};

	(void)state;
	set_up();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct http_answer answer = answered(rows[i].status);
		struct http_failure failure = rows[i].failure;

		failure.tls = failure.tls == NULL ? &quiet : failure.tls;
		expect(http_judge_failure(&answer, &failure), PROBE_CRITICAL, rows[i].reason,
			rows[i].text);
	}
}

static void test_the_end_of_a_certificate_is_judged_last(void **state)
{
	static const struct tls_conf limits = {.expires = {.note = 200, .critical = 100}};
	struct tls_session session = {.conf = &limits, .ends_on = "1970-01-12", .ending = "CN=web"};

	(void)state;
	wall = 1000000;
	session.ends = (time_t)wall + 201;
	expect(http_judge_expiry(
		       (struct http_verdict){PROBE_WARNING, REASON_NONE, xstrdup("HTTP 429"), {0}},
		       &session),
		PROBE_WARNING, REASON_NONE, "HTTP 429");
	session.ends = (time_t)wall + 200;
	expect(http_judge_expiry(
		       (struct http_verdict){PROBE_WARNING, REASON_NONE, xstrdup("HTTP 429"), {0}},
		       &session),
		PROBE_WARNING, REASON_NONE,
		"HTTP 429; certificate CN=web ends on 1970-01-12, within 3m20s");
	session.ends = (time_t)wall + 100;
	expect(http_judge_expiry(
		       (struct http_verdict){PROBE_PASSING, REASON_NONE, xstrdup("HTTP 200"), {0}},
		       &session),
		PROBE_CRITICAL, REASON_EXPIRY,
		"certificate CN=web ends on 1970-01-12, within 1m40s");
}

static void test_progress_says_how_far_it_was(void **state)
{
	struct http_answer answer = answered(200);
	char *text = http_answer_progress(&answer);

	(void)state;
	assert_string_equal(text, "HTTP 200, body incomplete");
	free(text);
	answer.head_done = false;
	text = http_answer_progress(&answer);
	assert_string_equal(text, "HTTP 200, headers incomplete");
	free(text);
	answer.status = 0;
	assert_null(http_answer_progress(&answer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_status_decides_where_nothing_is_asserted),
		cmocka_unit_test(test_half_a_head_is_no_answer),
		cmocka_unit_test(test_assertions),
		cmocka_unit_test(test_words_of_assertions),
		cmocka_unit_test(test_json_makes_a_verdict_worse_and_never_better),
		cmocka_unit_test(test_words_of_json),
		cmocka_unit_test(test_a_failed_transfer_never_passes),
		cmocka_unit_test(test_words_of_failures),
		cmocka_unit_test(test_the_end_of_a_certificate_is_judged_last),
		cmocka_unit_test(test_progress_says_how_far_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
