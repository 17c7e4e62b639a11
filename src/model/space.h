/* Address spaces over time: a list of versions (clock, root), where roots are those of persistent trees (treaps) of mappings. Internal to
 * model/. A change copies the O(log n) nodes on its path that are older than the current edit; older versions stay valid, so that any
 * thread may read while no record is applied. */
#pragma once
#include "model/model.h"

struct map_node {
	const struct map_node *left, *right;
	uint64_t start, end;      /* of *map */
	const struct map *map;
	uint32_t priority;        /* heap order: balances the tree for any sequence of addresses */
	uint32_t edit;            /* the edit that made the node and may modify it, since no reader has it yet; 0: immutable */
};

struct space_version {
	uint64_t clock;
	const struct map_node *root;
};

struct space {
	VEC(struct space_version) versions; /* by clock */
	uint32_t edit;            /* the edit that made the last version; 0: none */
};

uint32_t space_new(struct model *model);
const struct map_node *space_root(const struct space *space, uint64_t clock);
void space_set_root(struct model *model, uint32_t space, uint64_t clock, const struct map_node *root);
/* Inserts a copy of the mapping; what it covers is cut from older mappings. */
void space_insert(struct model *model, uint32_t space, uint64_t clock, const struct map *map);
/* The same, but mappings of MODULE_JIT remain. */
void space_insert_below_jit(struct model *model, uint32_t space, uint64_t clock, const struct map *map);
/* Removes the mapping at address, if there is one. */
void space_remove(struct model *model, uint32_t space, uint64_t clock, uint64_t address);
/* Inserts a mapping of the kernel or of a kernel module. Records of these may overlap if a kernel hides some addresses: an address then
 * belongs to the mapping that perf's binary search over all mappings by start finds. */
void space_insert_kernel(struct model *model, uint64_t clock, const struct map *map);
