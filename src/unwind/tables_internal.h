/* The members of the tables that unwinding reads. Internal to unwind/. */
#pragma once
#include <stdatomic.h>

#include "unwind/calls.h"
#include "unwind/rules.h"
#include "unwind/tables.h"

enum { TABLES_CHUNK = 1024 };

struct tables_chunk {
	_Atomic(const struct rule_table *) tables[TABLES_CHUNK];
	_Atomic uint32_t used[TABLES_CHUNK]; /* time of last use, in units of unwind_tables.now */
	_Atomic(const struct call_map *) calls[TABLES_CHUNK]; /* of files to which a guess led */
	_Atomic bool calls_wanted[TABLES_CHUNK];
};

struct unwind_tables {
	const struct modules *modules;
	struct image_options options;
	struct arena arena;
	_Atomic(struct tables_chunk *) chunks[UNWIND_MODULES_LIMIT / TABLES_CHUNK];
	_Atomic uint64_t needed;     /* registers beside sp and fp that some table reads */
	_Atomic size_t memory;       /* of all tables */
	_Atomic uint32_t now;        /* number of calls of unwind_tables_trim */
	struct tables_loading *loading;
};

/* NULL: not tried yet. A table without a file has no rows, and arch UNWIND_ARCHES. */
static inline const struct rule_table *tables_of(const struct unwind_tables *tables, uint32_t module)
{
	if (module >= UNWIND_MODULES_LIMIT)
		return NULL;
	struct tables_chunk *chunk = atomic_load_explicit(&tables->chunks[module / TABLES_CHUNK], memory_order_acquire);
	return chunk ? atomic_load_explicit(&chunk->tables[module % TABLES_CHUNK], memory_order_acquire) : NULL;
}

/* The map of calls of a module with a table; NULL: not built yet, which is noted. */
static inline const struct call_map *tables_calls(const struct unwind_tables *tables, uint32_t module)
{
	struct tables_chunk *chunk = atomic_load_explicit(&tables->chunks[module / TABLES_CHUNK], memory_order_acquire);
	const struct call_map *calls = atomic_load_explicit(&chunk->calls[module % TABLES_CHUNK], memory_order_acquire);
	if (!calls)
		atomic_store(&chunk->calls_wanted[module % TABLES_CHUNK], true);
	return calls;
}

/* Marks an existing table as used. */
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
