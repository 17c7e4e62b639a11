/* The running kernel's list of symbols, kept from one run to the next in a file of the user's cache: "perfuse/kernel-symbols". */
#pragma once
#include <stdint.h>

#include "base/arena.h"
#include "symbol/packed.h"

#define KEPT_NAME "kernel-symbols"

/* A zeroed one is closed. */
struct kept {
	struct packed_list list;
	struct span bytes;     /* as the file has them, where they were read */
	int fd;
};

/* base: the user's cache; state: of the kernel now, and not 0. ERROR_FORMAT: the file is of another state or damaged;
 * ERROR_PERMISSION: not safe. */
int kept_open(const char *base, uint64_t state, struct kept *kept, struct error *err);
void kept_close(struct kept *kept);
/* packed_get, with a copy of the name. What tells where symbols start was read when the list was opened, this is read when it is
 * asked for: few symbols are. */
void kept_get(const struct kept *kept, const struct packed_symbols *symbols, uint32_t id, struct symbol *symbol, struct arena *names);
int kept_save(const char *base, uint64_t state, const struct kallsyms *k, struct error *err);
