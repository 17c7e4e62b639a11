/* Location → symbol. Symbol tables are found and loaded once per module, on first use, from any thread; a loaded table is immutable. Knows
 * no sample and no output.
 *
 * Sources for files, in this order: the recording's build-id in the build-id cache, the file itself (below --symfs if given), debug files
 * by build-id and debuglink, .gnu_debugdata; .symtab precedes .dynsym. A file whose build-id differs from the recording's is not used. For
 * the kernel: only --kallsyms if given, only --vmlinux if given, vmlinux of the cache or the usual paths, /proc/kallsyms (or its copy
 * cached by an earlier run) if its build-id is the recording's, or unknown and the release does not differ, the list in the build-id cache.
 * For kernel modules: their file, otherwise the same list. For anonymous code: /tmp/perf-PID.map. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "model/module.h"
#include "symbol/types.h"

struct symbols;

/* modules must outlive the result, and may grow only while no look-up runs. The options are copied. */
struct symbols *symbols_new(const struct modules *modules, const struct symbols_options *options);
void symbols_free(struct symbols *symbols);

/* The id of the symbol that contains offset in the module's table, 0: none. Ids are stable as long as `symbols` exists. Loads the table at
 * the first call for a module; thread-safe. */
uint32_t symbols_lookup(struct symbols *symbols, const struct module *module, uint64_t offset);
/* An offset in the module of an id. */
struct symbols_query {
	uint32_t module;
	uint64_t offset;
};

/* Brings what symbols_lookup and symbols_name read for the queries, at most SYMBOLS_EXPECTED, into the caches, all at once, where tables
 * are loaded. Only a hint. */
enum { SYMBOLS_EXPECTED = 64 };
void symbols_expect(struct symbols *symbols, const struct symbols_query *queries, size_t count);
/* The symbol of an id that symbols_lookup returned for this module (never 0). */
const struct symbol *symbols_get(struct symbols *symbols, const struct module *module, uint32_t id);
/* The name to print: demangled unless disabled, printable, cached, valid as long as `symbols` unless the table is dropped. */
const char *symbols_name(struct symbols *symbols, const struct module *module, uint32_t id);

/* The extent of the symbol of that name as stored, in the module's offsets; false: absent. Searches the whole table. */
bool symbols_named(struct symbols *symbols, const struct module *module, const char *name, uint64_t *start, uint64_t *end);

/* Loads the table unless it is loaded: a job for a pool, one module each. */
void symbols_load(struct symbols *symbols, const struct module *module);
/* Frees the table, its ids and its names; the next look-up loads it again. Must not run while another thread uses the module. */
void symbols_drop(struct symbols *symbols, const struct module *module);
/* The start of a module's first symbol and the end of its last; false if it has none. */
bool symbols_extent(struct symbols *symbols, const struct module *module, uint64_t *start, uint64_t *end);

/* The sections of the kernel's file in memory: stores and counts them, 0 if names have another source. Loads no table. The texts are valid
 * as long as `symbols`. */
struct kernel_part;
size_t symbols_kernel_parts(struct symbols *symbols, const struct module *kernel, struct kernel_part *parts, size_t max);

/* Where the files of modules are looked for; borrowed. */
struct image_options;
const struct image_options *symbols_images(const struct symbols *symbols);

struct symtab_info symbols_info(const struct symbols *symbols, const struct module *module);
/* The places searched for the module's symbols; NULL if not searched, or options.verbose is 0. */
struct image_trail;
const struct image_trail *symbols_trail(const struct symbols *symbols, const struct module *module);
/* The places searched for its lines and inlined calls. */
const struct image_trail *symbols_trail_of_lines(const struct symbols *symbols, const struct module *module);
