/* The symbols of one module by address, with perf's rules: ends of symbols without a size, the choice among several names at one address,
 * the result of look-ups where symbols overlap. Knows no file and no module.
 *
 * A table is built in rounds: add symbols, merge, fix ends, drop duplicates; like perf, for .symtab, then .dynsym, then the PLT. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "symbol/demangle.h"
#include "symbol/types.h"
#include "symbol/tree.h"

struct symbol_table {
	struct symbol *symbols;
	uint32_t count;
	uint32_t root;               /* of the tree, as left and right */
	/* Where look-ups begin: by distance from `first`, the start of the first symbol, >> shift, the number of symbols that start before
	 * this part of the module; NULL: look-ups search all symbols. */
	uint32_t *parts;
	uint64_t first;
	uint32_t part_count, shift;
	uint32_t *left, *right;      /* of the tree, if symbols overlap; nodes are ids (index + 1) */
};

enum symbol_flag {
	SYMBOL_OVERLAPPED = 1 << 0, /* an earlier symbol extends beyond its start: look-ups need the tree */
	SYMBOL_IFUNC_ALIAS = 1 << 1, /* an indirect function at the same address was dropped in favour of this one */
};

/* A change of the table, in order: input for the tree, if one is needed. */
struct table_event {
	uint64_t start;
	uint32_t order;        /* of the removed symbol; for insertions, the number of symbols inserted before */
	bool erased;
};

struct table_builder {
	VEC(struct symbol) fresh;        /* of this round, in the order of addition; names are borrowed */
	VEC(struct symbol) sorted;       /* of earlier rounds, by address, equal ones in the order of addition */
	VEC(struct table_event) events;
	uint32_t added;                  /* total, counted by symbol.order */
	bool unsearched;                 /* the table gets no tree: where symbols overlap, look-ups may find another one */
	const struct demangler *demangler; /* names are compared in demangled form */
	uint32_t demangle_budget;        /* remaining work, so that a file of nothing but ties ends in time */
};

void builder_init(struct table_builder *b, const struct demangler *demangler);
void builder_fini(struct table_builder *b);

/* Returns the new symbol, valid until the next addition. */
struct symbol *builder_add(struct table_builder *b, uint64_t start, uint64_t size, const char *name, uint8_t binding,
	uint8_t type);
void builder_merge(struct table_builder *b);
/* kallsyms: names may end in "\t[module]"; ends do not cross from one module to the next. */
void builder_fix_ends(struct table_builder *b, bool kallsyms);
void builder_drop_duplicates(struct table_builder *b);
void builder_remove(struct table_builder *b, uint32_t order);
/* The merged symbol that contains offset, valid until the next addition; NULL. */
struct symbol *builder_find(struct table_builder *b, uint64_t offset);
/* Moves the symbols to the table; the builder is empty afterwards. */
void builder_finish(struct table_builder *b, struct symbol_table *table);

static inline bool symbol_holds(const struct symbol *symbol, uint64_t offset)
{
	return offset >= symbol->start && (offset < symbol->end || (offset == symbol->start && offset == symbol->end));
}

void table_fini(struct symbol_table *table);
uint32_t table_find(const struct symbol_table *table, uint64_t offset); /* the id; 0: none */

/* The part of the table in which look-ups of offset search; NULL: all of it, or none. */
static inline const uint32_t *table_part(const struct symbol_table *table, uint64_t offset)
{
	uint64_t part = (offset - table->first) >> table->shift;
	return table->parts && offset >= table->first && part < table->part_count ? &table->parts[part] : NULL;
}

/* Prefetch what a look-up reads: first the part, then its symbols. Returns the id of the symbol that it probably finds, or 0. */
static inline void table_expect_part(const struct symbol_table *table, uint64_t offset)
{
	__builtin_prefetch(table_part(table, offset));
}

static inline uint32_t table_expect(const struct symbol_table *table, uint64_t offset)
{
	const uint32_t *part = table_part(table, offset);
	if (!part)
		return 0;
	uint32_t id = part[1] ? part[1] : 1;
	__builtin_prefetch(&table->symbols[part[0]]);
	__builtin_prefetch(&table->symbols[id - 1]);
	return id;
}

/* Sorts indices of items by a 64-bit key each; stable. */
struct table_key {
	uint64_t key;
	uint32_t index;
};
void table_sort_keys(struct table_key *keys, size_t count);
