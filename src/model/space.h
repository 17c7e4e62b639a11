/* Address spaces over time: a list of versions (clock, root), where roots are those of persistent trees (treaps) of mappings. Internal to
 * model/. A change copies the O(log n) nodes on its path that are older than the current edit; older versions stay valid, so that any
 * thread may read while no record is applied.
 *
 * The mappings of a new process follow each other: if one edit maps several into an empty address space, and none overlaps another, they
 * are one sorted array (fewer than MADE_MAX), which a fork shares. A few later mappings (LATER_MAX) are listed beside it; more of them, or
 * one that overlaps, make the tree. An array is made a tree once at most, and all who share it share that tree. */
#pragma once
#include "model/model.h"

struct map_node {
	const struct map_node *left, *right;
	uint64_t start, end;      /* of *map */
	const struct map *map;    /* NULL: the node is that of a struct made_space, and has no other member but edit */
	uint32_t priority;        /* heap order: balances the tree for any sequence of addresses */
	uint32_t edit;            /* the edit that made the node and may modify it, since no reader has it yet; 0: immutable */
};

enum {
	MADE_MIN = 4,             /* mappings of an array: fewer are a tree … */
	MADE_MAX = 1024,          /* … and so many, too */
	LATER_MAX = 16,
};

/* Mappings that were made at once. */
struct made_maps {
	struct map_array array;
	const struct map_node *tree; /* the same mappings as a tree; NULL until one is needed. Only the owner of the model accesses it */
};

/* The root of an address space that is an array, and of mappings beside it. */
struct made_space {
	struct map_node node;
	struct made_maps *made;
	uint32_t count;
	const struct map *later[]; /* by address; they overlap neither each other nor the array */
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
const struct map_node *space_root(const struct model *model, uint32_t space, uint64_t clock);
/* Puts the mappings that the current edit has collected for one space into it. */
void space_settle(struct model *model);
/* A root with copies of the mappings of a root that is a struct made_space. */
const struct map_node *space_copy_made(struct model *model, const struct map_node *root);
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
