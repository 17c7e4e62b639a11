/* The sources of each kind of module's symbol table, and the owners of the names in it. Loading takes no lock but that of the kernel's
 * list: one thread loads a module. Knows no look-up. */
#pragma once
#include <pthread.h>

#include "base/arena.h"
#include "base/hash.h"
#include "image/search.h"
#include "symbol/demangle.h"
#include "symbol/kallsyms.h"
#include "symbol/lines_module.h"
#include "symbol/kernel_cache.h"
#include "symbol/types.h"
#include "symbol/table.h"

struct kernel_part;

/* The table of one module. */
struct symtab {
	struct symbol_table table;   /* if packed: only the symbols found so far, in the order of their look-ups */
	const char *_Atomic *shown;  /* by index; NULL until requested */
	struct packed_symbols packed;
	const struct kernel_cache *cache; /* the source of the packed symbols */
	pthread_mutex_t unpacking;   /* protects the members below, and the table */
	struct idmap ids;            /* of packed symbols, by their index */
	_Atomic uint64_t *recent;    /* index << 32 | id of recent look-ups: read without the lock */
	uint32_t unpacked;
	struct demangler demangler;
	struct image images[2];      /* own the strings of the names */
	struct symbol alone;         /* KSYMBOL: the only symbol */
	size_t taken;                /* bytes taken from the budget */
	char *text;                  /* or a copy of them, or the text of a perf map */
	struct span own_text;        /* the copy, in which no name changes any more */
	struct arena names;
	struct symtab_info info;
	struct module_lines *_Atomic lines; /* NULL until requested */
	struct image_trail trail;    /* recorded if options.verbose */
};

/* The symbol list of a kernel. */
struct kernel_list {
	int32_t pid;                 /* of a virtual machine: the process that runs it; 0: any */
	bool tried;
	struct kallsyms list;
	int64_t shift;               /* from the list's addresses to the recording's */
	struct symtab_info info;
};

/* Shared by all loading. */
struct symbol_sources {
	const struct modules *modules;
	struct symbols_options options;
	struct image_options image_options;
	struct arena arena;          /* texts of the options */
	pthread_mutex_t kernel_lock; /* protects the members below */
	struct kernel_list host;
	VEC(struct kernel_list) guests; /* of virtual machines */
	struct kernel_cache cache;   /* or the host's cached list of an earlier run: at most one of both is open */
	struct image_trail *kernel_trail; /* of the first caller; NULL */
};

void sources_init(struct symbol_sources *sources, const struct modules *modules, const struct symbols_options *options);
void sources_fini(struct symbol_sources *sources);

struct symtab *symtab_load(struct symbol_sources *sources, const struct module *module);
void symtab_free(struct symbol_sources *sources, struct symtab *tab);
/* The id of the symbol that contains offset, which is in tab->table afterwards; 0: none. Thread-safe. */
uint32_t symtab_find(struct symtab *tab, uint64_t offset);
/* The start of the first symbol and the end of the last; false if there is none. */
bool symtab_extent(const struct symtab *tab, uint64_t *start, uint64_t *end);
/* The extent of the first symbol with this name; reads the whole table. */
bool symtab_named(const struct symtab *tab, const char *name, uint64_t *start, uint64_t *end);
/* Sets up tab for packed symbols. */
void symtab_take_packed(struct symtab *tab, const struct packed_symbols *packed, const struct kernel_cache *cache);

/* Parts of symtab_load. */
void load_files(struct symbol_sources *sources, const struct module *module, struct symtab *tab);
void load_files_of(struct symbol_sources *sources, const struct image_options *where, const struct module *module, struct symtab *tab);
void load_kernel(struct symbol_sources *sources, const struct module *module, struct symtab *tab);
void load_kernel_module(struct symbol_sources *sources, const struct module *module, struct symtab *tab);
size_t load_kernel_parts(struct symbol_sources *sources, const struct module *kernel, struct kernel_part *parts, size_t max);
