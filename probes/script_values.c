// SPDX-License-Identifier: MIT
/* Values that a script tells as performance data, and the limits of the configuration on them. */
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/perfdata.h"
#include "probes/script.h"
#include "probes/trace.h"

/* Bytes of the labels that a message about a missing one lists. */
#define LABELS_MOST 200

/* What became of one limit; all zero: its value was not there. */
struct judged {
	bool seen;
	enum probe_status status;
	char *text; /* of the worst value, NULL where it is fine */
};

struct script_values {
	const struct script_conf *conf;
	struct measures *measures;
	struct trace *trace;
	struct perfdata perfdata;
	struct judged *limits; /* one for each of the configuration */
	char *labels; /* those that came, for messages; NULL while there is none */
};

static const struct script_limit *limit_at(const struct script_values *values, size_t index)
{
	return (const struct script_limit *)values->conf->values.items + index;
}

static void judge_one(
	struct script_values *values, size_t index, const struct perfdata_value *value)
{
	const struct script_limit *limit = limit_at(values, index);
	struct judged *judged = &values->limits[index];
	const struct limit_range *broken;
	enum probe_status status =
		limits_judge(&limit->warning, &limit->critical, value->value, &broken);
	char *words;

	/* It may know the load of one disk and not of another: all of one label must be fine. */
	if (value->type != PERFDATA_NUMBER)
		status = PROBE_CRITICAL;
	trace_add(values->trace, TRACE_LIMIT, "%s = %s, warning %s, critical %s: %s", value->label,
		value->text, limit->warning.text == NULL ? "-" : limit->warning.text,
		limit->critical.text == NULL ? "-" : limit->critical.text, status_name(status));
	judged->seen = true;
	if (status <= judged->status)
		return;
	free(judged->text);
	judged->status = status;
	if (value->type != PERFDATA_NUMBER) {
		judged->text = xprintf("%s = %s is not a number", value->label, value->text);
		return;
	}
	words = limit_text(broken, status);
	judged->text = xprintf("%s = %s is %s", value->label, value->text, words);
	free(words);
}

static void note_label(struct script_values *values, const char *label)
{
	const char *before = values->labels == NULL ? "" : values->labels;
	size_t length = strlen(before);
	char *longer;

	/* Only a message about a limit needs them, and only so many. */
	if (values->conf->values.count == 0 || length >= LABELS_MOST)
		return;
	if (length + strlen(label) > LABELS_MOST)
		longer = xprintf("%s%s...", before, *before == '\0' ? "" : ", ");
	else
		longer = xprintf("%s%s%s", before, *before == '\0' ? "" : ", ", label);
	free(values->labels);
	values->labels = longer;
}

static void on_found(void *owner, const struct perfdata_value *value)
{
	struct script_values *values = owner;

	/* Text with an equals sign behind a bar is no value, unless a limit names it. */
	if (value->type != PERFDATA_UNREADABLE) {
		measures_add(values->measures, value->label, value->value, value->unit);
		note_label(values, value->label);
	}
	for (size_t i = 0; i < values->conf->values.count; i++) {
		if (strcmp(limit_at(values, i)->name, value->label) == 0)
			judge_one(values, i, value);
	}
}

struct script_values *script_values_create(
	const struct script_conf *conf, struct measures *measures, struct trace *trace)
{
	struct script_values *values = xcalloc(1, sizeof(*values));

	values->conf = conf;
	values->measures = measures;
	values->trace = trace;
	values->perfdata.found = on_found;
	values->perfdata.owner = values;
	values->limits = xcalloc(conf->values.count + 1, sizeof(*values->limits));
	return values;
}

void script_values_destroy(struct script_values *values)
{
	if (values == NULL)
		return;
	for (size_t i = 0; i < values->conf->values.count; i++)
		free(values->limits[i].text);
	free(values->limits);
	free(values->labels);
	free(values);
}

void script_values_take(struct script_values *values, const char *bytes, size_t length)
{
	perfdata_take(&values->perfdata, bytes, length);
}

/* Appends one complaint; takes over both texts, either of which may be NULL. */
static char *join(char *take_text, char *take_more)
{
	char *joined;

	if (take_text == NULL || take_more == NULL)
		return take_text == NULL ? take_more : take_text;
	joined = xprintf("%s; %s", take_text, take_more);
	free(take_text);
	free(take_more);
	return joined;
}

void script_values_judge(struct script_values *values, struct script_verdict *verdict)
{
	enum probe_status worst = verdict->status;
	bool missing = false;
	char *text = NULL;

	perfdata_end(&values->perfdata);
	for (size_t i = 0; i < values->conf->values.count; i++) {
		struct judged *judged = &values->limits[i];

		if (!judged->seen) {
			judged->status = PROBE_CRITICAL;
			judged->text =
				xprintf("no value '%s' in the output", limit_at(values, i)->name);
		}
		/* What the exit code says as well needs no second word. */
		if (judged->status <= verdict->status)
			continue;
		missing = missing || !judged->seen;
		worst = judged->status > worst ? judged->status : worst;
		text = join(text, judged->text);
		judged->text = NULL;
	}
	if (text == NULL)
		return;
	if (missing)
		text = join(text,
			xprintf("it has: %s", values->labels == NULL ? "none" : values->labels));
	free(verdict->text);
	*verdict = (struct script_verdict){worst, REASON_MATCH, text};
}
