// SPDX-License-Identifier: MIT
/* An answer against what was wanted of it. Pure. */
#include "probes/dns_judge.h"

#include <string.h>

#include "config/arena.h"

/* Takes over text. */
static void fail(struct dns_verdict *verdict, enum probe_reason reason, char *take_text)
{
	*verdict =
		(struct dns_verdict){.status = PROBE_CRITICAL, .reason = reason, .text = take_text};
}

static char *show_count(const struct dns_conf *conf, const struct dns_answer *answer)
{
	if (answer->count == 0)
		return xprintf("no record of type %s", conf->type_name);
	return xprintf("%zu answer%s", answer->count, answer->count == 1 ? "" : "s");
}

/* The line of the answers in which a match ends. */
static char *line_at(const char *text, size_t end)
{
	size_t from = end > 0 ? end - 1 : 0;

	while (from > 0 && text[from - 1] != '\n')
		from--;
	return xprintf("%.*s", (int)strcspn(text + from, "\n"), text + from);
}

static void judge_text(
	const struct dns_conf *conf, const struct dns_answer *answer, struct dns_verdict *verdict)
{
	const struct match_subject subject = {
		.bytes = answer->text, .length = strlen(answer->text)};
	enum match_result wanted = MATCH_YES, unwanted = MATCH_NO;
	const char *error = NULL;
	char *count, *line;
	size_t end = 0;

	if (conf->expect != NULL)
		wanted = answer->count == 0 ? MATCH_NO
					    : match_find(conf->expect, &subject, NULL, &error);
	if (conf->reject != NULL && wanted == MATCH_YES && answer->count > 0)
		unwanted = match_find(conf->reject, &subject, &end, &error);
	if (wanted == MATCH_ERROR || unwanted == MATCH_ERROR) {
		fail(verdict, REASON_ENGINE,
			xprintf("'%s': %s", wanted == MATCH_ERROR ? "expect" : "reject", error));
	} else if (wanted == MATCH_NO) {
		count = show_count(conf, answer);
		fail(verdict, REASON_MATCH, xprintf("'expect' not found in %s", count));
		free(count);
	} else if (unwanted == MATCH_YES) {
		line = line_at(answer->text, end);
		fail(verdict, REASON_MATCH, xprintf("what 'reject' forbids, %s,", line));
		free(line);
	}
}

void dns_judge(const struct dns_conf *conf, const struct dns_answer *answer,
	struct dns_verdict *ret_verdict)
{
	char rcode[DNS_RCODE_SIZE];

	*ret_verdict = (struct dns_verdict){.status = PROBE_PASSING, .reason = REASON_NONE};
	dns_rcode_show(answer->rcode, rcode);
	if (!dns_rcodes_have(&conf->rcode, answer->rcode)) {
		fail(ret_verdict, REASON_STATUS, xstrdup(rcode));
		ret_verdict->next = answer->rcode == DNS_SERVFAIL || answer->rcode == DNS_NOTIMP ||
			answer->rcode == DNS_REFUSED;
	} else if (conf->authoritative && !answer->authoritative) {
		fail(ret_verdict, REASON_MATCH, xstrdup("an answer without authority"));
	} else if (answer->rcode != DNS_NOERROR) {
		ret_verdict->text = xstrdup(rcode);
	} else if (answer->count < conf->wanted) {
		fail(ret_verdict, REASON_MATCH, show_count(conf, answer));
		if (answer->count > 0 || conf->wanted > 1) {
			char *count = ret_verdict->text;

			ret_verdict->text = xprintf("%s where %zu are wanted", count, conf->wanted);
			free(count);
		}
	} else {
		judge_text(conf, answer, ret_verdict);
		if (ret_verdict->text == NULL)
			ret_verdict->text = show_count(conf, answer);
	}
}
