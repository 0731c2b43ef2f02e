// SPDX-License-Identifier: MIT
/* A JSON document beside what is asserted of it. */
#include "probes/match_json.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/trace.h"

/*
 * jansson takes about 300 bytes for an empty object of three: values are counted before,
 * so that a hostile body of 1 MiB does not become 100 MiB. Its own limit of 2,048 levels
 * is within our stack; nobody asserts something that deep.
 */
#define MOST_VALUES 50000
#define MOST_DEPTH 128

#define SHOWN_MOST 80 /* bytes of a value in a message */

/* What one assertion has come to. */
struct found {
	enum probe_status status;
	enum probe_reason reason;
	char *text; /* NULL: it holds */
};

static struct found holds(void)
{
	return (struct found){PROBE_PASSING, REASON_NONE, NULL};
}

static struct found fails(char *take_text)
{
	return (struct found){PROBE_CRITICAL, REASON_MATCH, take_text};
}

/* Skips the text whose opening quote is at *at. */
static size_t skip_string(const char *bytes, size_t length, size_t at)
{
	for (at++; at < length && bytes[at] != '"'; at++)
		at += bytes[at] == '\\';
	return at;
}

/* True if the document has neither too many values nor too many levels. */
static bool is_modest(const char *bytes, size_t length)
{
	size_t values = 1, depth = 0;

	for (size_t at = 0; at < length; at++) {
		char byte = bytes[at];

		if (byte == '"')
			at = skip_string(bytes, length, at);
		else if (byte == '[' || byte == '{')
			depth++;
		else if ((byte == ']' || byte == '}') && depth > 0)
			depth--;
		values += byte == '[' || byte == '{' || byte == ',';
		if (values > MOST_VALUES || depth > MOST_DEPTH)
			return false;
	}
	return true;
}

static json_t *parse(const char *bytes, size_t length, json_error_t *error)
{
	const size_t flags = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL;
	json_t *root = json_loadb(bytes, length, flags, error);

	/* Identifiers of 64 bits without a sign are no reason to give up. */
	if (root == NULL && json_error_code(error) == json_error_numeric_overflow)
		root = json_loadb(bytes, length, flags | JSON_DECODE_INT_AS_REAL, error);
	return root;
}

/* RFC 6901, section 4: digits without a leading zero; anything else is no element. */
static const json_t *element(const json_t *array, const char *step)
{
	size_t digits = strspn(step, "0123456789");

	if (digits == 0 || digits > 9 || step[digits] != '\0' || (digits > 1 && *step == '0'))
		return NULL;
	return json_array_get(array, strtoul(step, NULL, 10));
}

/* Where the pointer leads to, or NULL. */
static const json_t *follow(const json_t *root, const struct json_assertion *assertion)
{
	const json_t *value = root;

	for (size_t i = 0; value != NULL && assertion->steps[i] != NULL; i++) {
		if (json_is_array(value))
			value = element(value, assertion->steps[i]);
		else
			value = json_object_get(value, assertion->steps[i]);
	}
	return value;
}

/* A value as a message shows it. free(). */
static char *show(const json_t *value)
{
	char *text, *shown;

	if (json_is_object(value) || json_is_array(value))
		return xstrdup(json_is_object(value) ? "an object" : "an array");
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	if (text == NULL) /* what was read can be written: it is memory that is out */
		xfail();
	shown = output_clean_line(text, strlen(text), SHOWN_MOST);
	free(text);
	return shown;
}

static const char *label(const struct json_assertion *assertion)
{
	return *assertion->name == '\0' ? "the document" : assertion->name;
}

/* "/status is "down", BUT". */
static struct found unlike(
	const struct json_assertion *assertion, const json_t *value, const char *but)
{
	char *seen = show(value);
	char *text = xprintf("%s is %s, %s", label(assertion), seen, but);

	free(seen);
	return fails(text);
}

/* "/status is "down", NOT "ok"". */
static struct found unlike_wanted(const struct json_assertion *assertion, const json_t *value,
	const char * not, const struct json_scalar *wanted)
{
	char *shown = wanted->shown != NULL ? xstrdup(wanted->shown) : show(wanted->value);
	char *but = xprintf("%s %s", not, shown);
	struct found found = unlike(assertion, value, but);

	free(shown);
	free(but);
	return found;
}

/* Numbers are equal by their value, 5 and 5.0; everything else by type and value. */
static bool is_equal(const json_t *a, const json_t *b)
{
	if (json_is_integer(a) && json_is_integer(b))
		return json_integer_value(a) == json_integer_value(b);
	if (json_is_number(a) && json_is_number(b))
		return fabs(json_number_value(a) - json_number_value(b)) <= 0;
	return json_equal(a, b) != 0;
}

static struct found check_equal(const struct json_assertion *assertion, const json_t *value)
{
	const struct json_scalar *equals = &assertion->equals;
	const struct json_scalar *not_equals = &assertion->not_equals;

	if (equals->value != NULL && !is_equal(value, equals->value))
		return unlike_wanted(assertion, value, "not", equals);
	if (not_equals->value != NULL && is_equal(value, not_equals->value))
		return unlike(assertion, value, "which not_equals rules out");
	return holds();
}

static bool has_limits(const struct json_assertion *assertion)
{
	return assertion->min.value != NULL || assertion->max.value != NULL ||
		assertion->warning.text != NULL || assertion->critical.text != NULL;
}

static struct found check_range(const struct json_assertion *assertion, const json_t *value)
{
	double number = json_number_value(value);
	const struct limit_range *broken;
	struct found found = holds();
	char *seen, *words;

	if (assertion->min.value != NULL && number < json_number_value(assertion->min.value))
		return unlike_wanted(assertion, value, "below min", &assertion->min);
	if (assertion->max.value != NULL && number > json_number_value(assertion->max.value))
		return unlike_wanted(assertion, value, "above max", &assertion->max);
	found.status = limits_judge(&assertion->warning, &assertion->critical, number, &broken);
	if (broken == NULL)
		return found;
	seen = show(value);
	words = limit_text(broken, found.status);
	found.reason = REASON_MATCH;
	found.text = xprintf("%s = %s is %s", label(assertion), seen, words);
	free(seen);
	free(words);
	return found;
}

/* One pattern; wanted says whether it is to match. */
static struct found check_pattern(const struct json_assertion *assertion, const json_t *value,
	const struct match *pattern, bool wanted)
{
	const char *key = wanted ? "match" : "reject";
	const char *error = NULL;
	enum match_result result;
	struct found found;

	if (pattern == NULL)
		return holds();
	result = match_bytes(pattern, json_string_value(value), json_string_length(value), &error);
	if (result == (wanted ? MATCH_YES : MATCH_NO))
		return holds();
	if (result == MATCH_ERROR) {
		found = fails(xprintf("%s, %s: %s", label(assertion), key, error));
		found.reason = REASON_ENGINE;
		return found;
	}
	return unlike(
		assertion, value, wanted ? "which match does not match" : "which reject matches");
}

static struct found check_text(const struct json_assertion *assertion, const json_t *value)
{
	struct found found;

	if (assertion->match == NULL && assertion->reject == NULL)
		return holds();
	if (!json_is_string(value))
		return unlike(assertion, value, "not a text");
	found = check_pattern(assertion, value, assertion->match, true);
	return found.text != NULL ? found
				  : check_pattern(assertion, value, assertion->reject, false);
}

static struct found check_one(const struct json_assertion *assertion, const json_t *value)
{
	struct found found;

	if (json_is_false(assertion->exists.value)) {
		char *seen = value == NULL ? NULL : show(value);

		found = value == NULL ? holds()
				      : fails(xprintf("%s is there: %s", label(assertion), seen));
		free(seen);
		return found;
	}
	if (value == NULL)
		return fails(xprintf("%s is not there", label(assertion)));
	found = check_equal(assertion, value);
	if (found.text == NULL)
		found = check_text(assertion, value);
	if (found.text != NULL || !has_limits(assertion))
		return found;
	if (!json_is_number(value))
		return unlike(assertion, value, "not a number");
	return check_range(assertion, value);
}

static void trace_one(
	struct trace *trace, const struct json_assertion *assertion, const json_t *value)
{
	char *seen;

	if (trace == NULL)
		return;
	seen = value == NULL ? xstrdup("not there") : show(value);
	trace_add(trace, TRACE_ASSERTION, "json %s: %s", label(assertion), seen);
	free(seen);
}

/* Takes what one assertion has come to into the verdict. */
static void add(struct json_verdict *verdict, struct found found)
{
	char *joined;

	if (found.text == NULL)
		return;
	/* One that nobody can decide is worth more words than one that is false. */
	if (found.status > verdict->status || found.reason == REASON_ENGINE)
		verdict->reason = found.reason;
	if (found.status > verdict->status)
		verdict->status = found.status;
	if (verdict->text == NULL) {
		verdict->text = found.text;
		return;
	}
	joined = xprintf("%s; %s", verdict->text, found.text);
	free(verdict->text);
	free(found.text);
	verdict->text = joined;
}

static struct json_verdict unreadable(enum probe_reason reason, char *take_text)
{
	return (struct json_verdict){PROBE_CRITICAL, reason, take_text, {0}};
}

struct json_verdict match_json(
	const struct conf_items *assertions, const char *bytes, size_t length, struct trace *trace)
{
	const struct json_assertion *assertion = assertions->items;
	struct json_verdict verdict = {.status = PROBE_PASSING};
	json_error_t error;
	json_t *root;

	if (!is_modest(bytes, length))
		return unreadable(REASON_ENGINE,
			xprintf("the body has more than %d JSON values, or %d levels", MOST_VALUES,
				MOST_DEPTH));
	if (length == 0)
		return unreadable(REASON_MATCH, xstrdup("the body is not JSON: it is empty"));
	root = parse(bytes, length, &error);
	if (root == NULL)
		return unreadable(REASON_MATCH,
			xprintf("the body is not JSON: line %d, column %d: %s", error.line,
				error.column, error.text));
	for (size_t i = 0; i < assertions->count; i++, assertion++) {
		const json_t *value = follow(root, assertion);

		trace_one(trace, assertion, value);
		if (json_is_number(value) && has_limits(assertion))
			measures_add(
				&verdict.values, label(assertion), json_number_value(value), "");
		add(&verdict, check_one(assertion, value));
	}
	json_decref(root);
	return verdict;
}
