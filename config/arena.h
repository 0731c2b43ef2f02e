/* SPDX-License-Identifier: MIT */
/* config/arena.h: memory of one load, freed whole; allocators that never return NULL. */
#ifndef CONFIG_ARENA_H
#define CONFIG_ARENA_H

#include <stdarg.h>
#include <stddef.h>

/*
 * An arena owns everything allocated from it. A loaded configuration has one
 * arena; its strings are borrowed by everyone until the arena is destroyed.
 */
struct arena;

struct arena *arena_create(void);

/* Runs the deferred calls, newest first, then frees all memory. Accepts NULL. */
void arena_destroy(struct arena *arena);

/* Zeroed memory, aligned for any type, valid until the arena is destroyed. Never NULL. */
void *arena_alloc(struct arena *arena, size_t size);

char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Calls destroy(object) when the arena is destroyed; for what is not plain memory. */
void arena_defer(struct arena *arena, void (*destroy)(void *object), void *object);

/*
 * The heap. When memory is out they write one line to descriptor 2 and abort;
 * systemd restarts. What they return is freed with free().
 */
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *memory, size_t count, size_t size); /* refuses an overflowing product */
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t length);
char *xprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xvprintf(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* The same end, for a library that reports that its own memory is out. */
_Noreturn void xfail(void);

#endif
