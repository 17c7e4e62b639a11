/* malloc that cannot fail: out of memory ends the program, as nothing sensible is left to do. Sizes are overflow-checked. */
#pragma once
#include <stddef.h>
#include <stdlib.h>

void *memory_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *memory_zero(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *memory_resize(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
/* As memory_alloc, for arrays that are filled from front to back: those of megabytes with few page faults, where the kernel
 * has huge pages. */
void *memory_large(size_t size) __attribute__((malloc, returns_nonnull));
/* As memory_zero, for tables that are read and written all over at once: where each page would be asked for twice. */
void *memory_table(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
char *memory_string(const char *text) __attribute__((malloc, returns_nonnull));

/* Says so and ends the program, as all of these do: for libraries that ask the allocator themselves. size 0: not known. */
_Noreturn void memory_exhausted(size_t size);
/* Gives what was freed back to the system, as far as the allocator kept it. For programs that run without end. */
void memory_give_back(void);

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}
#define CLEANUP_FREE __attribute__((cleanup(cleanup_free)))
