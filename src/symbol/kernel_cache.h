/* The running kernel's symbol list, cached between runs in a file of the user's cache: "perfuse/kernel-symbols". */
#pragma once
#include <stdint.h>

#include "base/arena.h"
#include "symbol/packed.h"

#define KERNEL_CACHE_NAME "kernel-symbols"

/* A zeroed one is closed. */
struct kernel_cache {
	struct packed_list list;
	struct span bytes;     /* laid out as the file; only the parts that were read are valid */
	int fd;
};

/* Opens the cached list. base: the user's cache folder; state: the kernel's current state, not 0. ERROR_FORMAT: the file belongs to another
 * state or is damaged; ERROR_PERMISSION: other users could have written it. */
int kernel_cache_open(const char *base, uint64_t state, struct kernel_cache *cache, struct error *err);
void kernel_cache_close(struct kernel_cache *cache);
/* As packed_get, with a copy of the name. The starts of symbols are read when the list is opened, the rest of a symbol on demand: few
 * symbols are needed. */
void kernel_cache_get(const struct kernel_cache *cache, const struct packed_symbols *symbols, uint32_t id, struct symbol *symbol,
	struct arena *names);
int kernel_cache_save(const char *base, uint64_t state, const struct kallsyms *k, struct error *err);
