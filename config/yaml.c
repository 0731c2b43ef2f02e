// SPDX-License-Identifier: MIT
/* libyaml events turned into a tree that remembers where everything stood. */
#include "config/yaml.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml_private.h"

/* Buckets for anchors: a file has a handful, and 1 MiB of them is still quick. */
#define ANCHOR_BUCKETS 1024

struct anchor {
	struct anchor *next; /* of its bucket, newest first: a name may be used again */
	const char *name;
	struct conf_node *node;
	bool complete; /* its node has ended; before, an alias would be a circle */
	size_t weight; /* nodes below, and itself, with aliases followed */
	unsigned int height; /* levels below */
};

/* A list or map whose end has not come yet. */
struct frame {
	struct conf_node *node;
	struct anchor *anchor; /* NULL if it has none */
	struct conf_node **children; /* of a map: keys and values in turn */
	size_t count, capacity;
	size_t weight_before;
	unsigned int height;
};

struct builder {
	struct arena *arena;
	struct conf_diag *diag;
	const char *file;
	const char *bytes;
	size_t length;
	struct frame frames[CONF_MAX_DEPTH];
	unsigned int depth;
	size_t written, reached; /* nodes in the file, and again through aliases */
	struct conf_node *root;
	unsigned int documents;
	struct anchor *anchors[ANCHOR_BUCKETS];
};

/* libyaml counts from zero. */
static struct conf_mark mark_of(const struct builder *builder, yaml_mark_t mark)
{
	return (struct conf_mark){
		.file = builder->file,
		.line = (unsigned int)mark.line + 1,
		.column = (unsigned int)mark.column + 1,
	};
}

static struct anchor **bucket_of(struct builder *builder, const char *name)
{
	uint32_t hash = 2166136261U; /* FNV-1a, 32 bits */

	for (; *name != '\0'; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619U;
	return &builder->anchors[hash % ANCHOR_BUCKETS];
}

static struct anchor *find_anchor(struct builder *builder, const char *name)
{
	struct anchor *anchor = *bucket_of(builder, name);

	while (anchor != NULL && strcmp(anchor->name, name) != 0)
		anchor = anchor->next;
	return anchor;
}

static struct anchor *add_anchor(
	struct builder *builder, const yaml_char_t *name, struct conf_node *node)
{
	struct anchor *anchor = arena_alloc(builder->arena, sizeof(*anchor));
	struct anchor **bucket = bucket_of(builder, (const char *)name);

	anchor->name = arena_strdup(builder->arena, (const char *)name);
	anchor->node = node;
	anchor->next = *bucket;
	*bucket = anchor;
	return anchor;
}

static bool refuse(struct builder *builder, struct conf_mark mark, const char *text)
{
	diag_add(builder->diag, mark, CONF_ERROR, "%s", text);
	return false;
}

static struct conf_node *new_node(
	struct builder *builder, enum conf_node_type type, const yaml_event_t *event)
{
	struct conf_node *node = arena_alloc(builder->arena, sizeof(*node));

	node->type = type;
	node->mark = mark_of(builder, event->start_mark);
	return node;
}

/* Hands a node to the list or map that is open, or makes it the root. */
static bool attach(struct builder *builder, struct conf_node *node, unsigned int height)
{
	struct frame *frame;

	if (builder->written > CONF_MAX_NODES || builder->reached > CONF_MAX_NODES) {
		diag_add(builder->diag, node->mark, CONF_ERROR,
			builder->written > CONF_MAX_NODES ? "more than %d values in one file"
							  : "aliases stand for more than %d values",
			CONF_MAX_NODES);
		return false;
	}
	if (builder->depth + height >= CONF_MAX_DEPTH) {
		diag_add(builder->diag, node->mark, CONF_ERROR, "nested more than %d levels deep",
			CONF_MAX_DEPTH);
		return false;
	}
	if (builder->depth == 0) {
		builder->root = node;
		return true;
	}
	frame = &builder->frames[builder->depth - 1];
	if (frame->node->type == CONF_MAPPING && frame->count % 2 == 0 && node->type != CONF_SCALAR)
		return refuse(builder, node->mark, "a key must be text, not a list or a map");
	if (frame->count == frame->capacity) {
		frame->capacity = frame->capacity == 0 ? 16 : 2 * frame->capacity;
		frame->children =
			xrealloc(frame->children, frame->capacity, sizeof(struct conf_node *));
	}
	frame->children[frame->count++] = node;
	if (frame->height < height + 1)
		frame->height = height + 1;
	return true;
}

/* The types that YAML itself names say nothing here: a value's type comes from its key. */
static void check_tag(
	struct builder *builder, const struct conf_node *node, const yaml_char_t *yaml_tag)
{
	static const char prefix[] = "tag:yaml.org,2002:";
	static const char *const known[][6] = {
		[CONF_SCALAR] = {"str", "int", "float", "bool", "null", NULL},
		[CONF_SEQUENCE] = {"seq", NULL},
		[CONF_MAPPING] = {"map", NULL},
	};
	const char *tag = (const char *)yaml_tag;

	if (tag == NULL || strcmp(tag, "!") == 0)
		return;
	if (strncmp(tag, prefix, strlen(prefix)) == 0) {
		for (size_t i = 0; known[node->type][i] != NULL; i++) {
			if (strcmp(tag + strlen(prefix), known[node->type][i]) == 0)
				return;
		}
	}
	diag_add(builder->diag, node->mark, CONF_ERROR,
		"tag '%s' is not supported here; leave it out", tag);
}

static bool on_scalar(struct builder *builder, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	struct conf_node *node = new_node(builder, CONF_SCALAR, event);

	builder->written++;
	check_tag(builder, node, event->data.scalar.tag);
	node->text = arena_strndup(builder->arena, text, event->data.scalar.length);
	node->length = strlen(node->text);
	/* A tag, if only "!", says that the writer meant the text. */
	node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		event->data.scalar.tag == NULL;
	if (node->length != event->data.scalar.length)
		return refuse(builder, node->mark, "text must not contain a NUL byte");
	if (event->data.scalar.anchor != NULL) {
		struct anchor *anchor = add_anchor(builder, event->data.scalar.anchor, node);

		anchor->complete = true;
		anchor->weight = 1;
	}
	return attach(builder, node, 0);
}

static bool on_alias(struct builder *builder, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	struct anchor *anchor = find_anchor(builder, name);
	struct conf_node *node = new_node(builder, CONF_SCALAR, event);
	struct conf_mark mark = node->mark;

	builder->written++;
	if (anchor == NULL || !anchor->complete) {
		diag_add(builder->diag, mark, CONF_ERROR,
			anchor == NULL ? "alias '*%s' has no anchor '&%s' before it"
				       : "alias '*%s' stands inside its own anchor '&%s'",
			name, name);
		return false;
	}
	builder->reached += anchor->weight;
	*node = *anchor->node;
	node->mark = mark;
	return attach(builder, node, anchor->height);
}

static bool on_start(struct builder *builder, enum conf_node_type type, const yaml_event_t *event)
{
	/* Both kinds of start hold the same two members. */
	const yaml_char_t *name = type == CONF_SEQUENCE ? event->data.sequence_start.anchor
							: event->data.mapping_start.anchor;
	const yaml_char_t *tag = type == CONF_SEQUENCE ? event->data.sequence_start.tag
						       : event->data.mapping_start.tag;
	struct conf_node *node = new_node(builder, type, event);
	struct frame *frame;

	check_tag(builder, node, tag);
	if (!attach(builder, node, 0))
		return false;
	frame = &builder->frames[builder->depth++];
	*frame = (struct frame){
		.node = node,
		.anchor = name != NULL ? add_anchor(builder, name, node) : NULL,
		.weight_before = builder->written + builder->reached,
	};
	builder->written++;
	return true;
}

static void on_end(struct builder *builder)
{
	struct frame *frame;
	struct conf_node *node;

	if (builder->depth == 0)
		return; /* libyaml pairs its events; this tells the analyzer */
	frame = &builder->frames[--builder->depth];
	node = frame->node;
	if (node->type == CONF_MAPPING) {
		yaml_fill_mapping(
			builder->arena, builder->diag, node, frame->children, frame->count);
	} else {
		node->count = frame->count;
		node->items = arena_alloc(
			builder->arena, (frame->count + 1) * sizeof(struct conf_node *));
		for (size_t i = 0; i < frame->count; i++)
			node->items[i] = frame->children[i];
	}
	free(frame->children);
	frame->children = NULL;
	if (frame->anchor != NULL) {
		frame->anchor->complete = true;
		frame->anchor->height = frame->height;
		frame->anchor->weight = builder->written + builder->reached - frame->weight_before;
	}
	if (builder->depth > 0 && frame[-1].height < frame->height + 1)
		frame[-1].height = frame->height + 1;
}

static bool on_event(struct builder *builder, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (++builder->documents > 1)
			return refuse(builder, mark_of(builder, event->start_mark),
				"a second document; a file holds one, so leave out '---'");
		return true;
	case YAML_ALIAS_EVENT:
		return on_alias(builder, event);
	case YAML_SCALAR_EVENT:
		return on_scalar(builder, event);
	case YAML_SEQUENCE_START_EVENT:
		return on_start(builder, CONF_SEQUENCE, event);
	case YAML_MAPPING_START_EVENT:
		return on_start(builder, CONF_MAPPING, event);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		on_end(builder);
		return true;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
	return true;
}

/* Reads events to the end of the stream; false after something that left no tree. */
static bool build(struct builder *builder, yaml_parser_t *parser)
{
	bool fine = true, ended = false;

	while (fine && !ended) {
		yaml_event_t event;

		if (!yaml_parser_parse(parser, &event)) {
			yaml_report_syntax(builder->file, builder->bytes, builder->length, parser,
				builder->diag);
			return false;
		}
		fine = on_event(builder, &event);
		ended = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	return fine;
}

/* No document, or one of comments only. */
static bool is_nothing(const struct conf_node *root)
{
	return root == NULL || (root->type == CONF_SCALAR && root->plain && root->length == 0);
}

static struct conf_node *empty_mapping(struct builder *builder)
{
	struct conf_node *node = arena_alloc(builder->arena, sizeof(*node));

	node->type = CONF_MAPPING;
	node->mark = (struct conf_mark){.file = builder->file, .line = 1, .column = 1};
	return node;
}

struct conf_node *node_parse(struct arena *arena, const char *file, const char *bytes,
	size_t length, struct conf_diag *diag)
{
	struct builder *builder;
	struct conf_node *root = NULL;
	yaml_parser_t parser;

	if (length > CONF_MAX_BYTES) {
		diag_add(diag, (struct conf_mark){.file = file}, CONF_ERROR,
			"is larger than %zu KiB", CONF_MAX_BYTES / 1024);
		return NULL;
	}
	if (!yaml_bytes_are_text(file, bytes, length, diag))
		return NULL;
	if (!yaml_parser_initialize(&parser))
		xfail();
	builder = xcalloc(1, sizeof(*builder));
	*builder = (struct builder){
		.arena = arena, .diag = diag, .file = file, .bytes = bytes, .length = length};
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, length);
	if (build(builder, &parser))
		root = is_nothing(builder->root) ? empty_mapping(builder) : builder->root;
	while (builder->depth > 0)
		free(builder->frames[--builder->depth].children);
	yaml_parser_delete(&parser);
	free(builder);
	return root;
}
