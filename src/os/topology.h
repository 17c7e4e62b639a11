/* How the machine is put together, as /sys/devices/system tells: cores, packages, nodes, caches, blocks of memory. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

struct topology_cpu {
	int32_t core, package, die; /* -1: not known */
};

struct topology_node {
	uint32_t id;
	uint64_t memory_kb, free_kb;
	const char *cpus;          /* "0-3" */
	const uint64_t *blocks;    /* a bit per block of memory that is present */
	uint64_t block_bits;       /* how many bits: one more than the largest */
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
	VEC(struct topology_cpu) cpus;          /* by number, of all that are present */
	struct topology_lists packages, dies, cores; /* CPU lists that belong together, each once */
	VEC(struct topology_node) nodes;
	VEC(struct topology_cache) caches;      /* each once, by level */
	uint64_t block_size;                    /* of memory; 0: not known */
};

/* Reads all; what cannot be read is left empty. */
void topology_read(struct topology *topology);
void topology_fini(struct topology *topology);
