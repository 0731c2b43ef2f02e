// SPDX-License-Identifier: MIT
/* An answer against what was wanted of it. Pure. */
#include "probes/dns_judge.h"

#include <stdarg.h>
#include <stdlib.h>

#include "config/arena.h"

static void fail(struct dns_verdict *verdict, enum probe_reason reason, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void fail(struct dns_verdict *verdict, enum probe_reason reason, const char *format, ...)
{
	va_list arguments;

	verdict->status = PROBE_CRITICAL;
	verdict->reason = reason;
	va_start(arguments, format);
	verdict->text = xvprintf(format, arguments);
	va_end(arguments);
}

static char *show_count(const struct dns_conf *conf, const struct dns_answer *answer)
{
	if (answer->count == 0)
		return xprintf("no record of type %s", conf->type_name);
	return xprintf("%zu answer%s", answer->count, answer->count == 1 ? "" : "s");
}

static void judge_text(
	const struct dns_conf *conf, const struct dns_answer *answer, struct dns_verdict *verdict)
{
	enum match_result wanted = MATCH_YES, unwanted = MATCH_NO;
	struct match_subject line = {0};
	const char *error = NULL;
	char *count;

	if (conf->expect != NULL)
		wanted = answer->count == 0
			? MATCH_NO
			: match_lines(conf->expect, answer->text, &line, &error);
	if (conf->reject != NULL && wanted == MATCH_YES && answer->count > 0)
		unwanted = match_lines(conf->reject, answer->text, &line, &error);
	if (wanted == MATCH_ERROR || unwanted == MATCH_ERROR) {
		fail(verdict, REASON_ENGINE, "'%s': %s",
			wanted == MATCH_ERROR ? "expect" : "reject", error);
	} else if (wanted == MATCH_NO) {
		count = show_count(conf, answer);
		fail(verdict, REASON_MATCH, "'expect' not found in %s", count);
		free(count);
	} else if (unwanted == MATCH_YES) {
		fail(verdict, REASON_MATCH, "what 'reject' forbids, %.*s,", (int)line.length,
			(const char *)line.bytes);
	}
}

static void judge_count(
	const struct dns_conf *conf, const struct dns_answer *answer, struct dns_verdict *verdict)
{
	char *count = show_count(conf, answer);

	if (answer->count > 0 || conf->wanted > 1)
		fail(verdict, REASON_MATCH, "%s where %zu are wanted", count, conf->wanted);
	else
		fail(verdict, REASON_MATCH, "%s", count);
	free(count);
}

void dns_judge(const struct dns_conf *conf, const struct dns_answer *answer,
	struct dns_verdict *ret_verdict)
{
	char rcode[DNS_RCODE_SIZE];

	*ret_verdict = (struct dns_verdict){.status = PROBE_PASSING, .reason = REASON_NONE};
	dns_rcode_show(answer->rcode, rcode);
	if (!dns_rcodes_have(&conf->rcode, answer->rcode)) {
		fail(ret_verdict, REASON_STATUS, "%s", rcode);
		ret_verdict->next = answer->rcode == DNS_SERVFAIL || answer->rcode == DNS_NOTIMP ||
			answer->rcode == DNS_REFUSED;
	} else if (conf->authoritative && !answer->authoritative) {
		fail(ret_verdict, REASON_MATCH, "an answer without authority");
	} else if (answer->rcode != DNS_NOERROR) {
		ret_verdict->text = xstrdup(rcode);
	} else if (answer->count < conf->wanted) {
		judge_count(conf, answer, ret_verdict);
	} else {
		judge_text(conf, answer, ret_verdict);
		if (ret_verdict->text == NULL)
			ret_verdict->text = show_count(conf, answer);
	}
}
