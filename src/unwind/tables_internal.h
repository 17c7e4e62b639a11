/* What unwinding reads of the tables. Internal to unwind/. */
#pragma once
#include <stdatomic.h>

#include "unwind/rules.h"
#include "unwind/tables.h"

enum { TABLES_CHUNK = 1024 };

struct tables_chunk {
	_Atomic(const struct rule_table *) tables[TABLES_CHUNK];
	_Atomic uint32_t used[TABLES_CHUNK]; /* when, by unwind_tables.now */
};

struct unwind_tables {
	const struct modules *modules;
	struct image_options options;
	struct arena arena;
	_Atomic(struct tables_chunk *) chunks[UNWIND_MODULES_LIMIT / TABLES_CHUNK];
	_Atomic uint64_t needed;     /* registers beside sp and fp that some table computes with */
	_Atomic size_t memory;       /* of all tables */
	_Atomic uint32_t now;        /* how often tables were trimmed */
	struct tables_loading *loading;
};

/* NULL: not yet tried. One without file has no rows, and arch UNWIND_ARCHES. */
static inline const struct rule_table *tables_of(const struct unwind_tables *tables, uint32_t module)
{
	if (module >= UNWIND_MODULES_LIMIT)
		return NULL;
	struct tables_chunk *chunk = atomic_load_explicit(&tables->chunks[module / TABLES_CHUNK], memory_order_acquire);
	return chunk ? atomic_load_explicit(&chunk->tables[module % TABLES_CHUNK], memory_order_acquire) : NULL;
}

/* A table that is there is used. */
static inline void tables_note_use(const struct unwind_tables *tables, uint32_t module)
{
	uint32_t now = atomic_load_explicit(&tables->now, memory_order_relaxed);
	struct tables_chunk *chunk = atomic_load_explicit(&tables->chunks[module / TABLES_CHUNK], memory_order_relaxed);
	_Atomic uint32_t *used = &chunk->used[module % TABLES_CHUNK];
	if (atomic_load_explicit(used, memory_order_relaxed) != now)
		atomic_store_explicit(used, now, memory_order_relaxed);
}

static inline const struct module *tables_module(const struct unwind_tables *tables, uint32_t id)
{
	return id < tables->modules->list.count ? tables->modules->list.items[id] : NULL;
}
