/* Address spaces over time: per space a list of (clock, root), roots of persistent trees of mappings. Internal to model/.
 * A change copies the O(log n) nodes on its path that are older than the edit it belongs to; everything older stays valid, so
 * any thread may read while nothing is applied. */
#pragma once
#include "model/model.h"

struct map_node {
	const struct map_node *left, *right;
	uint64_t start, end;      /* of *map */
	const struct map *map;
	uint32_t priority;        /* heap order: keeps the tree balanced whatever the addresses */
	uint32_t edit;            /* the one that made it, which may still modify it: nobody has seen it; 0: none may */
};

struct space_version {
	uint64_t clock;
	const struct map_node *root;
};

struct space {
	VEC(struct space_version) versions; /* by clock */
};

uint32_t space_new(struct model *model);
const struct map_node *space_root(const struct space *space, uint64_t clock);
void space_set_root(struct model *model, uint32_t space, uint64_t clock, const struct map_node *root);
/* What the new mapping covers is cut out of the older ones. The map is copied. */
void space_insert(struct model *model, uint32_t space, uint64_t clock, const struct map *map);
/* As space_insert, but code of MODULE_JIT stays where it is. */
void space_insert_below_jit(struct model *model, uint32_t space, uint64_t clock, const struct map *map);
/* Removes the mapping that holds address; nothing where there is none. */
void space_remove(struct model *model, uint32_t space, uint64_t clock, uint64_t address);
