// SPDX-License-Identifier: MIT
/* Memory of one load, freed whole; allocators that never return NULL. */
#include "config/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A configuration of ten checks fits in one block; one of 10,000 needs some hundred. */
#define BLOCK_SIZE ((size_t)64 * 1024)

struct block {
	struct block *next;
	size_t used, size; /* of bytes */
	_Alignas(max_align_t) unsigned char bytes[];
};

struct deferred {
	struct deferred *next;
	void (*destroy)(void *object);
	void *object;
};

struct arena {
	struct block *blocks; /* the first one is being filled */
	struct deferred *deferred; /* newest first */
};

_Noreturn void xfail(void)
{
	static const char line[] = "probity: out of memory\n";

	/* There is nothing left to do about a failing write. */
	if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
		abort();
	abort();
}

struct arena *arena_create(void)
{
	return xcalloc(1, sizeof(struct arena));
}

void arena_destroy(struct arena *arena)
{
	if (arena == NULL)
		return;
	for (struct deferred *call = arena->deferred; call != NULL; call = call->next)
		call->destroy(call->object);
	while (arena->blocks != NULL) {
		struct block *block = arena->blocks;

		arena->blocks = block->next;
		free(block);
	}
	free(arena);
}

static struct block *add_block(struct arena *arena, size_t size)
{
	struct block *block;

	if (size > SIZE_MAX - sizeof(*block))
		xfail();
	block = xcalloc(1, sizeof(*block) + size);
	block->size = size;
	/* A block for one large object goes behind the one that still has room. */
	if (arena->blocks != NULL && size > BLOCK_SIZE) {
		block->next = arena->blocks->next;
		arena->blocks->next = block;
	} else {
		block->next = arena->blocks;
		arena->blocks = block;
	}
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t unit = _Alignof(max_align_t);
	struct block *block = arena->blocks;
	void *memory;

	if (size > SIZE_MAX - unit)
		xfail();
	size = size == 0 ? unit : (size + unit - 1) / unit * unit;
	if (block == NULL || block->size - block->used < size)
		block = add_block(arena, size > BLOCK_SIZE ? size : BLOCK_SIZE);
	memory = block->bytes + block->used;
	block->used += size;
	return memory;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
	size_t most = strnlen(text, length);
	char *copy = arena_alloc(arena, most + 1);

	memcpy(copy, text, most);
	return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list arguments;
	char *text, *copy;

	va_start(arguments, format);
	text = xvprintf(format, arguments);
	va_end(arguments);
	copy = arena_strdup(arena, text);
	free(text);
	return copy;
}

void arena_defer(struct arena *arena, void (*destroy)(void *object), void *object)
{
	struct deferred *call = arena_alloc(arena, sizeof(*call));

	call->destroy = destroy;
	call->object = object;
	call->next = arena->deferred;
	arena->deferred = call;
}

void *xcalloc(size_t count, size_t size)
{
	/* calloc(0) may be NULL, which our callers take for nothing. */
	void *memory = count == 0 || size == 0 ? calloc(1, 1) : calloc(count, size);

	if (memory == NULL)
		xfail();
	return memory;
}

void *xrealloc(void *memory, size_t count, size_t size)
{
	void *moved;

	if (size != 0 && count > SIZE_MAX / size)
		xfail();
	/* realloc(0) may free, which a caller that keeps the pointer does not want. */
	moved = realloc(memory, count * size == 0 ? 1 : count * size);
	if (moved == NULL)
		xfail();
	return moved;
}

char *xstrdup(const char *text)
{
	char *copy = strdup(text);

	if (copy == NULL)
		xfail();
	return copy;
}

char *xstrndup(const char *text, size_t length)
{
	char *copy = strndup(text, length);

	if (copy == NULL)
		xfail();
	return copy;
}

char *xprintf(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = xvprintf(format, arguments);
	va_end(arguments);
	return text;
}

char *xvprintf(const char *format, va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) < 0)
		xfail();
	return text;
}
