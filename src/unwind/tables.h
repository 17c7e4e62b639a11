/* Call frame information of modules, compiled to sorted tables of compact rules. Reading and compiling happens here, once per module on
 * first use, from any thread; a compiled table is immutable. Long-running programs drop tables that were not used for some time. Finds
 * files through image/. */
#pragma once
#include <stdint.h>

#include "image/search.h"
#include "model/module.h"
#include "unwind/types.h"

/* Modules with larger ids have no tables. */
#define UNWIND_MODULES_LIMIT (1u << 20)

/* modules must outlive the result, and may grow only while nothing is unwound. The options are copied. */
struct unwind_tables *unwind_tables_new(const struct modules *modules, const struct image_options *options);
void unwind_tables_free(struct unwind_tables *tables); /* accepts NULL */
/* Compiles the module's table unless tried before, and its map of calls if a guess needs it. */
void unwind_tables_load(struct unwind_tables *tables, const struct module *module);
/* The same for a file in memory (tests, and programs that unwind themselves). Both files may be closed afterwards. */
void unwind_tables_add(struct unwind_tables *tables, const struct module *module, const struct elf *runtime, const struct elf *debug);
/* The module was tried, and has a file of a supported architecture. */
bool unwind_tables_has(const struct unwind_tables *tables, const struct module *module);

/* Bytes of all tables. */
size_t unwind_tables_memory(const struct unwind_tables *tables);
/* The module was tried, and its table was not dropped since. */
bool unwind_tables_tried(const struct unwind_tables *tables, uint32_t module);
/* Drops tables of the modules for which `counts` returns true (NULL: all) until the tables use at most `most` bytes: least recently used
 * first, but none used since the last call but one. They are compiled again on demand. Must not run while stacks are unwound; another
 * thread may load tables. */
void unwind_tables_trim(struct unwind_tables *tables, size_t most, bool (*counts)(void *context, uint32_t module), void *context);

struct unwind_counters {
	uint64_t modules, modules_without; /* compiled; tried, but without a file or call frame information */
	uint64_t rules, damaged_entries;
	size_t memory;
};
struct unwind_counters unwind_tables_counters(const struct unwind_tables *tables);
