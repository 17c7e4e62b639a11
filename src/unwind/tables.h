/* Call frame information of modules, compiled to sorted tables of compact rules. Reading and compiling happens here, once per
 * module and at first need, from any thread; a compiled table is immutable. What runs without end drops those it has not used for
 * long. Finds files through image/. */
#pragma once
#include <stdint.h>

#include "image/search.h"
#include "model/module.h"
#include "unwind/unwind.h"

/* More modules than this have no tables. */
#define UNWIND_MODULES_LIMIT (1u << 20)

/* modules must outlive it and may grow while nothing is unwound. The options are copied. */
struct unwind_tables *unwind_tables_new(const struct modules *modules, const struct image_options *options);
void unwind_tables_free(struct unwind_tables *tables); /* NULL is fine */
/* Compiles the module's table, where it was not yet tried. */
void unwind_tables_load(struct unwind_tables *tables, const struct module *module);
/* The same, of a file in memory (tests, and programs that unwind themselves). Both may be closed after. */
void unwind_tables_add(struct unwind_tables *tables, const struct module *module, const struct elf *runtime, const struct elf *debug);
/* The module was tried, and there is a file of a known machine. */
bool unwind_tables_has(const struct unwind_tables *tables, const struct module *module);

/* Bytes of all tables. */
size_t unwind_tables_memory(const struct unwind_tables *tables);
/* The module was tried; its table was not dropped since. */
bool unwind_tables_tried(const struct unwind_tables *tables, uint32_t module);
/* Of the modules that `counts` is true for (NULL: of all), tables are dropped until they take `most` bytes: least recently used first,
 * those used since the last but one call not at all. They are compiled again when they are needed. Not while something is unwound;
 * another thread may load tables meanwhile. */
void unwind_tables_trim(struct unwind_tables *tables, size_t most, bool (*counts)(void *context, uint32_t module), void *context);

struct unwind_counters {
	uint64_t modules, modules_without; /* compiled; tried, but no file or no call frame information */
	uint64_t rules, damaged_entries;
	size_t memory;
};
struct unwind_counters unwind_tables_counters(const struct unwind_tables *tables);
