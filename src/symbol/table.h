/* The symbols of one module in order of address, and the rules that make them perf's: ends of symbols without a size,
 * which of several names at one address stays, what is found where symbols overlap. Knows no file and no module.
 *
 * A table is built in rounds: add symbols, merge, fix ends, drop duplicates; as perf does for .symtab, then .dynsym, then
 * the PLT. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "symbol/demangle.h"
#include "symbol/symbol.h"
#include "symbol/tree.h"

struct symbol_table {
	struct symbol *symbols;
	uint32_t count;
	uint32_t root, *left, *right; /* of the tree, where symbols overlap; nodes are ids (index + 1) */
};

enum symbol_flag {
	SYMBOL_OVERLAPPED = 1 << 0, /* an earlier one reaches beyond its start: the tree tells what is found */
	SYMBOL_IFUNC_ALIAS = 1 << 1, /* an indirect function of the same address was dropped in favour of this */
};

/* Something that happened to the table, in order: what a tree is made from, where one is needed. */
struct table_event {
	uint64_t start;
	uint32_t order;        /* of the symbol that was erased; or how many were there after an insertion of those before it */
	bool erased;
};

struct table_builder {
	VEC(struct symbol) fresh;        /* of this round, in the order they were added; names are borrowed */
	VEC(struct symbol) sorted;       /* of the rounds before, by address, equal ones as they came */
	VEC(struct table_event) events;
	uint32_t added;                  /* in all; symbol.order counts them */
	const struct demangler *demangler; /* names are compared as they are shown */
	uint32_t demangle_budget;        /* what is left to spend, so that a file made of nothing but ties ends in time */
};

void builder_init(struct table_builder *b, const struct demangler *demangler);
void builder_fini(struct table_builder *b);

/* The new symbol, until the next one is added. */
struct symbol *builder_add(struct table_builder *b, uint64_t start, uint64_t size, const char *name, uint8_t binding,
	uint8_t type);
void builder_merge(struct table_builder *b);
/* kallsyms: names may carry "\t[module]", whose borders are not bridged. */
void builder_fix_ends(struct table_builder *b, bool kallsyms);
void builder_drop_duplicates(struct table_builder *b);
void builder_remove(struct table_builder *b, uint32_t order);
/* The symbol that holds offset, among those merged; NULL. Until the next addition. */
struct symbol *builder_find(struct table_builder *b, uint64_t offset);
/* Hands the symbols over; the builder is empty after. */
void builder_finish(struct table_builder *b, struct symbol_table *table);

static inline bool symbol_holds(const struct symbol *symbol, uint64_t offset)
{
	return offset >= symbol->start && (offset < symbol->end || (offset == symbol->start && offset == symbol->end));
}

void table_fini(struct symbol_table *table);
uint32_t table_find(const struct symbol_table *table, uint64_t offset); /* id; 0: none */

/* Sorts indices of items by a 64-bit key each, keeping the order of equal ones. */
struct table_key {
	uint64_t key;
	uint32_t index;
};
void table_sort_keys(struct table_key *keys, size_t count);
