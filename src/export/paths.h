/* Interned triples of numbers (base/tuple.h), and the tree of call paths made of them. Knows no sample. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/tuple.h"
#include "base/vec.h"

struct triple {
	uint64_t a, b, c;
};

struct triples {
	struct tuples rows;
};

/* The number of the triple, from 0; *added: it is new. */
uint32_t triples_add(struct triples *triples, struct triple triple, bool *added);
bool triples_has(const struct triples *triples, struct triple triple);
void triples_fini(struct triples *triples);

#define PATH_ROOT 0u

struct call_path {
	uint32_t parent;
	uint32_t symbol;      /* id of an exported symbol; 0: unknown */
	uint64_t ip;          /* 0 if the symbol is known */
	uint64_t row;         /* its id in the database; 0: it is not there yet */
	bool in_kernel;       /* by its first address */
};

struct call_paths {
	VEC(struct call_path) list; /* list.items[PATH_ROOT] is the root */
	struct triples known;       /* (parent, symbol, ip): number n is list.items[n + 1] */
};

void call_paths_init(struct call_paths *paths);
void call_paths_fini(struct call_paths *paths);
uint32_t call_paths_add(struct call_paths *paths, uint32_t parent, uint32_t symbol, uint64_t ip);
