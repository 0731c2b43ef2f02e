// SPDX-License-Identifier: MIT
/* The rows of assertions on JSON, their values that are typed as JSON is, and their rules. */
#include <string.h>

#include "config/arena.h"
#include "probes/match_json.h"

static void release(void *value)
{
	json_decref(value);
}

/* NULL, reported, where the text is a number that no double or long long holds. */
static json_t *read_value(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, const struct conf_text *text, bool is_text)
{
	json_t *value = NULL;
	json_error_t error = {.text = ""};

	if (!is_text)
		value = json_loads(text->text, JSON_DECODE_ANY, &error);
	if (value == NULL && json_error_code(&error) == json_error_numeric_overflow) {
		(void)conf_error(
			load, node, "'%s': %s is too large a number", field->key, text->shown);
		return NULL;
	}
	/* JSON itself, such as [1], is text here. */
	if (json_is_array(value) || json_is_object(value)) {
		json_decref(value);
		value = NULL;
	}
	/* It holds no NUL byte and is UTF-8, as the whole file: there is no other failure. */
	return value == NULL ? json_string(text->text) : value;
}

json_t *json_read_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, const char **ret_shown)
{
	struct conf_text text;

	if (!field_scalar(load, field, node, &text))
		return NULL;
	*ret_shown = text.text == text.shown ? NULL : text.shown;
	return read_value(load, field, node, &text, !node->plain);
}

static bool parse(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, struct json_scalar *scalar, bool quotes_count)
{
	struct conf_text text;
	json_t *value;

	if (!field_scalar(load, field, node, &text))
		return false;
	value = read_value(load, field, node, &text, quotes_count && !node->plain);
	if (value == NULL)
		return false;
	arena_defer(load->arena, release, value);
	scalar->value = value;
	scalar->shown = text.text == text.shown ? NULL : text.shown;
	return true;
}

/* In quotes it is text, whatever it looks like. */
static bool parse_scalar(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	return parse(load, field, node, member, true);
}

/* The row says that it is a number, as of all rows of numbers: '${MAX}' needs its quotes. */
static bool parse_number(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct json_scalar *scalar = member;

	if (!parse(load, field, node, scalar, false))
		return false;
	return json_is_number(scalar->value) ||
		conf_error(load, node, "'%s' is a number, such as 5 or 0.25", field->key);
}

static bool parse_truth(struct conf_load *load, const struct conf_field *field,
	const struct conf_node *node, void *member)
{
	struct json_scalar *scalar = member;

	if (!parse(load, field, node, scalar, false))
		return false;
	return json_is_boolean(scalar->value) ||
		conf_error(load, node, "'%s' is neither true nor false", field->key);
}

static void print_scalar(const struct conf_field *field, const void *member, FILE *stream)
{
	const struct json_scalar *scalar = member;

	(void)field;
	if (scalar->value == NULL)
		return;
	if (scalar->shown != NULL)
		field_print_text(scalar->shown, stream);
	else if (json_is_string(scalar->value))
		field_print_text(json_string_value(scalar->value), stream);
	else if (json_is_null(scalar->value))
		(void)fputs(" null", stream); /* the blank: "null" alone is what is not there */
	else
		(void)json_dumpf(scalar->value, stream, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

static bool equal_scalars(const struct conf_field *field, const void *a, const void *b)
{
	const struct json_scalar *left = a, *right = b;

	(void)field;
	if (left->value == NULL || right->value == NULL)
		return left->value == right->value;
	return json_equal(left->value, right->value) != 0;
}

static json_t *scalar_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:[s, s, s, s]}", "type", "string", "number", "boolean", "null");
}

static json_t *number_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:[{s:s}, {s:s, s:s}]}", "anyOf", "type", "number", "type", "string",
		"pattern", "\\$\\{");
}

static json_t *truth_schema(const struct conf_field *field)
{
	(void)field;
	return json_pack("{s:[{s:s}, {s:s, s:s}]}", "anyOf", "type", "boolean", "type", "string",
		"pattern", "\\$\\{");
}

static const struct conf_kind scalar = {
	.name = "a text, number, true, false or null",
	.size = sizeof(struct json_scalar),
	.parse = parse_scalar,
	.print = print_scalar,
	.equal = equal_scalars,
	.schema = scalar_schema,
};

static const struct conf_kind number = {
	.name = "a number",
	.size = sizeof(struct json_scalar),
	.parse = parse_number,
	.print = print_scalar,
	.equal = equal_scalars,
	.schema = number_schema,
};

static const struct conf_kind truth = {
	.name = "true or false",
	.size = sizeof(struct json_scalar),
	.parse = parse_truth,
	.print = print_scalar,
	.equal = equal_scalars,
	.schema = truth_schema,
};

#define ROW(member, the_kind, ...)                                                                 \
	CONF_ROW(struct json_assertion, member, struct json_scalar, the_kind, __VA_ARGS__)

const struct conf_field json_fields[] = {
	ROW(equals, scalar,
		.help = "What the value equals; 5, true and null are what they are in JSON, in "
			"quotes they are text"),
	ROW(not_equals, scalar, .help = "What the value does not equal, as another type does not"),
	ROW(min, number, .help = "Smallest number that is fine"),
	ROW(max, number, .help = "Largest number that is fine"),
	ROW(exists, truth,
		.help = "Whether the pointer leads to something at all, null included; all else "
			"that is asserted needs it to"),
	MATCH_PATTERN(
		struct json_assertion, match, .help = "Regular expression that a text must match"),
	MATCH_PATTERN(struct json_assertion, reject,
		.help = "Regular expression that a text must not match"),
	LIMIT_RANGE(struct json_assertion, warning,
		.help = "Range of a number, as 4 (0 to 4), 10:, ~:10, 10:20, or @10:20 for what is "
			"not fine; outside it the run is a warning"),
	LIMIT_RANGE(struct json_assertion, critical,
		.help = "The same; outside it the run is critical"),
	{0},
};

/* Whether each ~ is ~0 or ~1. */
static bool is_escaped(const char *pointer)
{
	while ((pointer = strchr(pointer, '~')) != NULL) {
		if (pointer[1] != '0' && pointer[1] != '1')
			return false;
		pointer++;
	}
	return true;
}

/* The next part of a pointer, up to a slash, as it is meant; in the arena. */
static const char *read_step(struct conf_load *load, const char *pointer, size_t length)
{
	char *step = arena_strndup(load->arena, pointer, length);
	char *to = step;

	for (const char *from = step; *from != '\0'; from++) {
		if (from[0] == '~') {
			from++;
			*to++ = *from == '1' ? '/' : '~';
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	return step;
}

static void set_steps(struct json_assertion *assertion, struct conf_load *load)
{
	size_t count = 0;
	const char **steps;

	for (const char *at = assertion->name; *at != '\0'; at++)
		count += *at == '/';
	steps = arena_alloc(load->arena, (count + 1) * sizeof(*steps));
	assertion->steps = steps;
	for (const char *at = assertion->name; *at == '/';) {
		size_t length = strcspn(at + 1, "/");

		*steps++ = read_step(load, at + 1, length);
		at += 1 + length;
	}
}

bool json_check(void *conf, const struct conf_node *node, struct conf_load *load)
{
	struct json_assertion *assertion = conf;
	const char *name = assertion->name;
	bool looks = assertion->equals.value != NULL || assertion->not_equals.value != NULL ||
		assertion->min.value != NULL || assertion->max.value != NULL ||
		assertion->match != NULL || assertion->reject != NULL ||
		assertion->warning.text != NULL || assertion->critical.text != NULL;

	if (*name != '\0' && *name != '/')
		return conf_error(load, node,
			"'%s' is not a JSON pointer: one begins with '/', as in /%s", name, name);
	if (!is_escaped(name))
		return conf_error(load, node,
			"'%s' is not a JSON pointer: write ~0 for a '~', and ~1 for a '/' in a key",
			name);
	if (!looks && assertion->exists.value == NULL)
		return conf_error(load, node,
			"nothing is asserted of '%s'; write a value, {max: 5} or {exists: true}",
			name);
	if (looks && json_is_false(assertion->exists.value))
		return conf_error(load, node,
			"'%s' cannot be like something and not exist; keep one of the two", name);
	if (assertion->min.value != NULL && assertion->max.value != NULL &&
		json_number_value(assertion->min.value) > json_number_value(assertion->max.value))
		return conf_error(load, node, "'min' of '%s' is above its 'max'", name);
	set_steps(assertion, load);
	return true;
}
