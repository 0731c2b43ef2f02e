// SPDX-License-Identifier: MIT
/* The entries of a mapping: `<<` merged in, each key once; looking one up. */
#include <stdlib.h>
#include <string.h>

#include "config/yaml_private.h"

/* One key that may become an entry. The place says where it stands, merged ones where `<<` does. */
struct candidate {
	struct conf_entry entry;
	size_t place;
};

struct candidates {
	struct candidate *items;
	size_t count, capacity;
};

static void add(struct candidates *list, struct conf_entry entry)
{
	if (list->count == list->capacity) {
		list->capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
		list->items = xrealloc(list->items, list->capacity, sizeof(*list->items));
	}
	list->items[list->count] = (struct candidate){.entry = entry, .place = list->count};
	list->count++;
}

static bool add_merged(struct candidates *list, const struct conf_node *source)
{
	if (source->type != CONF_MAPPING)
		return false;
	for (size_t i = 0; i < source->count; i++) {
		struct conf_entry entry = source->entries[i];

		entry.merged = true;
		add(list, entry);
	}
	return true;
}

static void add_merge(
	struct candidates *list, const struct conf_node *value, struct conf_diag *diag)
{
	bool fine = true;

	if (value->type == CONF_SEQUENCE) {
		for (size_t i = 0; i < value->count && fine; i++)
			fine = add_merged(list, value->items[i]);
	} else {
		fine = add_merged(list, value);
	}
	if (!fine)
		diag_add(diag, value->mark, CONF_ERROR,
			"'<<' takes a map or a list of maps, such as *name");
}

static bool is_merge_key(const struct conf_node *key)
{
	return key->plain && strcmp(key->text, "<<") == 0;
}

static int compare_places(size_t a, size_t b)
{
	return a < b ? -1 : a > b;
}

/* By key; what is written here before what came through `<<`; then as in the file. */
static int compare_keys(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;
	int order = strcmp(left->entry.key->text, right->entry.key->text);

	if (order != 0)
		return order;
	if (left->entry.merged != right->entry.merged)
		return left->entry.merged ? 1 : -1;
	return compare_places(left->place, right->place);
}

static int compare_in_file(const void *a, const void *b)
{
	return compare_places(
		((const struct candidate *)a)->place, ((const struct candidate *)b)->place);
}

static void report_duplicate(
	struct conf_diag *diag, const struct conf_node *first, const struct conf_node *second)
{
	diag_add(diag, second->mark, CONF_ERROR, "duplicate key '%s'; it stands in line %u already",
		second->text, first->mark.line);
}

/* Leaves the first of each key. Sorting finds twins in n log n, whatever the keys are. */
static void drop_twins(struct candidates *list, struct conf_diag *diag)
{
	size_t kept = 0;

	if (list->count == 0)
		return;
	qsort(list->items, list->count, sizeof(*list->items), compare_keys);
	for (size_t i = 1; i < list->count; i++) {
		const struct conf_entry *first = &list->items[kept].entry;
		const struct conf_entry *second = &list->items[i].entry;

		if (strcmp(first->key->text, second->key->text) != 0)
			list->items[++kept] = list->items[i];
		else if (!second->merged)
			report_duplicate(diag, first->key, second->key);
	}
	list->count = kept + 1;
	qsort(list->items, list->count, sizeof(*list->items), compare_in_file);
}

void yaml_fill_mapping(struct arena *arena, struct conf_diag *diag, struct conf_node *node,
	struct conf_node *const *pairs, size_t count)
{
	struct candidates list = {0};
	const struct conf_node *merge = NULL;

	for (size_t i = 0; i + 1 < count; i += 2) {
		struct conf_node *key = pairs[i], *value = pairs[i + 1];

		if (!is_merge_key(key)) {
			add(&list, (struct conf_entry){.key = key, .value = value});
			continue;
		}
		if (merge != NULL)
			report_duplicate(diag, merge, key);
		merge = key;
		add_merge(&list, value, diag);
	}
	drop_twins(&list, diag);
	node->count = list.count;
	node->entries = arena_alloc(arena, (list.count + 1) * sizeof(*node->entries));
	for (size_t i = 0; i < list.count; i++)
		node->entries[i] = list.items[i].entry;
	free(list.items);
}

struct conf_node *node_get(const struct conf_node *mapping, const char *key)
{
	if (mapping == NULL || mapping->type != CONF_MAPPING)
		return NULL;
	for (size_t i = 0; i < mapping->count; i++) {
		if (strcmp(mapping->entries[i].key->text, key) == 0)
			return mapping->entries[i].value;
	}
	return NULL;
}

struct conf_mark node_mark(const struct conf_node *mapping, const char *key)
{
	const struct conf_node *value = node_get(mapping, key);

	return value != NULL ? value->mark : mapping->mark;
}
