#include "rewrite/written_maps.h"

void written_maps_fork(struct written_maps *written, uint32_t space, uint32_t parent, uint64_t clock)
{
	while (written->origins.count <= space)
		vec_push(&written->origins, ((struct space_origin){ .parent = UINT32_MAX }));
	written->origins.items[space] = (struct space_origin){ .parent = parent, .clock = clock };
}

enum { FORKS_MAX = 1000 }; /* time per sample: real chains of forks are shorter, and beyond it a mapping is written once more */

static bool has(const struct written_maps *written, uint32_t space, uint32_t serial)
{
	uint64_t before = UINT64_MAX;
	for (unsigned forks = 0; forks <= FORKS_MAX; forks++) {
		uint32_t at = idmap_get(&written->by_map, hash_pair(space, serial));
		if (at != IDMAP_NONE && written->clocks.items[at] < before)
			return true;
		if (space >= written->origins.count || written->origins.items[space].parent == UINT32_MAX ||
		    written->origins.items[space].clock >= before)
			return false; /* clocks fall along the way, so that it ends even in a circle of forks */
		before = written->origins.items[space].clock;
		space = written->origins.items[space].parent;
	}
	return false;
}

bool written_maps_add(struct written_maps *written, uint32_t space, uint32_t serial, uint64_t clock)
{
	if (has(written, space, serial))
		return false;
	idmap_set(&written->by_map, hash_pair(space, serial), (uint32_t)written->clocks.count);
	vec_push(&written->clocks, clock);
	return true;
}

void written_maps_fini(struct written_maps *written)
{
	idmap_fini(&written->by_map);
	vec_fini(&written->clocks);
	vec_fini(&written->origins);
}
