/* The topology of the machine from /sys/devices/system: cores, packages, nodes, caches, blocks of memory. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

struct topology_cpu {
	int32_t core, package, die; /* -1: unknown */
};

struct topology_node {
	uint32_t id;
	uint64_t memory_kb, free_kb;
	const char *cpus;          /* "0-3" */
	const uint64_t *blocks;    /* a bit per present block of memory */
	uint64_t block_bits;       /* number of bits: one more than the largest block, or 1 */
};

struct topology_cache {
	uint32_t level, line_size, sets, ways;
	const char *type, *size, *cpus;
};

struct topology_lists {
	VEC(const char *) list;
};

struct topology {
	struct arena arena;
	VEC(struct topology_cpu) cpus;          /* all present ones, by number */
	struct topology_lists packages, dies, cores; /* CPU lists that belong together, without duplicates */
	VEC(struct topology_node) nodes;
	VEC(struct topology_cache) caches;      /* without duplicates, by level */
	uint64_t block_size;                    /* of memory, in bytes; 0: unknown */
};

/* Reads the whole topology; unreadable parts are empty. */
void topology_read(struct topology *topology);
void topology_fini(struct topology *topology);
