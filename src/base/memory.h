/* Allocation that does not return on failure: out of memory ends the program. Sizes are checked for overflow. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

void *memory_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *memory_zero(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *memory_resize(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
/* As memory_alloc, for large arrays that are filled from front to back: uses huge pages, if the kernel has them, for fewer page faults. */
void *memory_large(size_t size) __attribute__((malloc, returns_nonnull));
/* As memory_alloc, for blocks of which a part may remain unused: takes no more than the size, and uses huge pages for those that it has
 * room for. */
void *memory_block(size_t size) __attribute__((malloc, returns_nonnull));
/* As memory_zero, for large tables with random access, which would touch every small page. */
void *memory_table(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
char *memory_string(const char *text) __attribute__((malloc, returns_nonnull));

/* Reports that memory is exhausted and ends the program, as all functions here do; for libraries with their own allocation calls. size 0:
 * unknown. */
_Noreturn void memory_exhausted(size_t size);
/* Returns freed memory to the system. For programs that run for a long time. */
void memory_give_back(void);
/* Threads that are started later allocate from one place: glibc otherwise reserves 64 MiB of addresses for each. For a process whose
 * address space is limited. */
void memory_share(void);
/* From now on large blocks are returned to the system when they are freed: glibc otherwise retains as much as the largest block needed. For
 * a command that runs for long, and loads symbol tables meanwhile. */
void memory_return_blocks(void);
/* Items for which an array has room that begins with `first` of them and doubles until it has `count`. For accounts of memory. */
static inline size_t memory_doubled(size_t count, size_t first)
{
	while (first < count)
		first *= 2;
	return first;
}

/* A reader of consecutive records calls it for each: `size` bytes at some distance behind `at` are fetched into the caches. Processors that
 * do this themselves stop at the end of a page. Only a hint: nothing has to be mapped there. */
static inline void memory_fetch_ahead(const void *at, size_t size)
{
	enum { AHEAD = 2048, LINE = 64, MOST = 512 };
	uintptr_t first = (uintptr_t)at + AHEAD;
	for (size_t i = 0; i < size && i < MOST; i += LINE)
		__builtin_prefetch((const void *)(first + i));
}

/* Bytes that are allocated; 0: the C library does not tell. It takes time: call it rarely. */
size_t memory_in_use(void);

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}
#define CLEANUP_FREE __attribute__((cleanup(cleanup_free)))
