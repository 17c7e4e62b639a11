/* Which mappings have been written for which address space. A forked address space has its parent's mappings as of the fork, so that what
 * was written for the parent before the fork need not be written for the child. Of longer chains the last 1000 forks count. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct space_origin {
	uint32_t parent;             /* UINT32_MAX: unknown */
	uint64_t clock;              /* of the fork */
};

struct written_maps {
	struct idmap by_map;         /* (address space, serial of the mapping) → index in clocks */
	VEC(uint64_t) clocks;        /* when each was written */
	VEC(struct space_origin) origins; /* by address space */
};

void written_maps_fork(struct written_maps *written, uint32_t space, uint32_t parent, uint64_t clock);
/* Notes that the mapping is written for this address space. Returns false if it was already. */
bool written_maps_add(struct written_maps *written, uint32_t space, uint32_t serial, uint64_t clock);
void written_maps_fini(struct written_maps *written);
