// SPDX-License-Identifier: MIT
/* What a TLS connection tells: limits on the end of a certificate, words of failures. */
#include "tests/unit/unit.h"

#include <openssl/x509_vfy.h>
#include <stdlib.h>

#include "probes/tls_session.h"

static double wall;

double __wrap_clock_wall(void);

double __wrap_clock_wall(void)
{
	return wall;
}

static void the_nearer_limit_counts(void **unused)
{
	static const struct {
		struct tls_expires_conf limits;
		time_t left;
		enum tls_expiry expiry;
	} rows[] = {
		{{.note = 0, .critical = 0}, -5, TLS_EXPIRY_FAR},
		{{.note = 50, .critical = 10}, 51, TLS_EXPIRY_FAR},
		{{.note = 50, .critical = 10}, 50, TLS_EXPIRY_NOTE},
		{{.note = 50, .critical = 10}, 11, TLS_EXPIRY_NOTE},
		{{.note = 50, .critical = 10}, 10, TLS_EXPIRY_CRITICAL},
		{{.note = 50, .critical = 10}, -1, TLS_EXPIRY_CRITICAL},
		{{.note = 50}, -1, TLS_EXPIRY_NOTE},
		{{.critical = 10}, 11, TLS_EXPIRY_FAR},
		{{.critical = 10}, 10, TLS_EXPIRY_CRITICAL},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(tls_expiry_judge(&rows[i].limits, 1000 + rows[i].left, 1000),
			rows[i].expiry);
	/* A date that nobody could read says nothing. */
	assert_int_equal(tls_expiry_judge(&rows[1].limits, 0, 1000), TLS_EXPIRY_FAR);
}

static void the_line_names_certificate_date_and_limit(void **unused)
{
	static const struct tls_conf conf = {.expires = {.note = 14 * 86400, .critical = 86400}};
	struct tls_session session = {
		.conf = &conf, .ends = 1799107200, .ends_on = "2027-01-05", .ending = "CN=web"};
	char *text;

	(void)unused;
	wall = 1799107200 - 13 * 86400;
	assert_int_equal(tls_session_expiry(&session, &text), TLS_EXPIRY_NOTE);
	assert_string_equal(text, "certificate CN=web ends on 2027-01-05, within 14d");
	free(text);
	wall -= 2 * 86400;
	assert_int_equal(tls_session_expiry(&session, &text), TLS_EXPIRY_FAR);
	assert_null(text);
}

static void check_failure(const struct tls_session *session, long verdict, const char *expected)
{
	char *text = tls_session_failure(session, verdict, "web", "no handshake");

	assert_string_equal(text, expected);
	free(text);
}

static void a_failure_is_told_by_its_cause(void **unused)
{
	static const struct tls_session quiet, refused = {.alert = "unknown CA"};

	(void)unused;
	check_failure(&refused, X509_V_ERR_CERT_HAS_EXPIRED, "the server refuses: unknown CA");
	check_failure(&quiet, X509_V_OK, "no handshake");
	check_failure(&quiet, X509_V_ERR_CERT_HAS_EXPIRED, "certificate has expired");
	check_failure(&quiet, X509_V_ERR_HOSTNAME_MISMATCH,
		"hostname mismatch: the certificate is not for web");
	check_failure(&quiet, X509_V_ERR_IP_ADDRESS_MISMATCH,
		"hostname mismatch: the certificate is not for web");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearer_limit_counts),
		cmocka_unit_test(the_line_names_certificate_date_and_limit),
		cmocka_unit_test(a_failure_is_told_by_its_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
