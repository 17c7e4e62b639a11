#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined __GLIBC__
#include <malloc.h>
#endif

enum { HUGE_PAGE = 2 << 20, SMALL_PAGE = 4096 };

_Noreturn void memory_exhausted(size_t size)
{
	if (size)
		fprintf(stderr, "perfuse: out of memory (%zu bytes asked for)\n", size);
	else
		fputs("perfuse: out of memory\n", stderr);
	_exit(EXIT_FAILURE);
}

void *memory_alloc(size_t size)
{
	void *p = malloc(size ? size : 1);
	if (!p)
		memory_exhausted(size);
	return p;
}

void *memory_zero(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);
	if (!p)
		memory_exhausted(count);
	return p;
}

void *memory_resize(void *old, size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes))
		memory_exhausted(SIZE_MAX);
	void *p = realloc(old, bytes ? bytes : 1);
	if (!p)
		memory_exhausted(bytes);
	return p;
}

void *memory_large(size_t size)
{
	void *p;
	if (size < HUGE_PAGE / 2)
		return memory_alloc(size);
	/* start at a huge-page boundary: otherwise up to a huge page at either end would consist of small pages */
	size_t room = size < HUGE_PAGE ? HUGE_PAGE : size;
	if (posix_memalign(&p, HUGE_PAGE, room))
		memory_exhausted(size);
	madvise(p, room / SMALL_PAGE * SMALL_PAGE, MADV_HUGEPAGE); /* a hint: failure has no effect */
	return p;
}

void *memory_block(size_t size)
{
	char *p = memory_alloc(size);
	uintptr_t first = ((uintptr_t)p + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1), end = ((uintptr_t)p + size) & ~(uintptr_t)(HUGE_PAGE - 1);
	if (first < end)
		madvise(p + (first - (uintptr_t)p), end - first, MADV_HUGEPAGE);
	return p;
}

void *memory_table(size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes))
		memory_exhausted(SIZE_MAX);
	return memset(memory_large(bytes), 0, bytes);
}

char *memory_string(const char *text)
{
	size_t len = strlen(text);
	char *copy = memcpy(memory_alloc(len + 1), text, len + 1);
	copy[len] = '\0'; /* another process may have overwritten the terminator */
	return copy;
}

/* The allocators of the sanitizers leave glibc's without an arena, which mallinfo2 does not expect. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define OTHER_ALLOCATOR
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OTHER_ALLOCATOR
#endif
#endif

size_t memory_in_use(void)
{
#if defined __GLIBC__ && !defined OTHER_ALLOCATOR
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
#else
	return 0;
#endif
}

void memory_return_blocks(void)
{
#if defined __GLIBC__
	enum { BLOCK = 128 << 10 };
	mallopt(M_MMAP_THRESHOLD, BLOCK);
#endif
}

void memory_share(void)
{
#if defined __GLIBC__
	mallopt(M_ARENA_MAX, 1);
#endif
}

void memory_give_back(void)
{
#if defined __GLIBC__
	malloc_trim(0);
#endif
}
