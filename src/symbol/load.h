/* Where each kind of module gets its symbol table from, and what the names in it borrow from. Loading takes no lock but
 * the one of the kernel's list: each module is loaded by one thread. Knows no look-up. */
#pragma once
#include <pthread.h>

#include "base/arena.h"
#include "base/hash.h"
#include "image/search.h"
#include "symbol/demangle.h"
#include "symbol/kallsyms.h"
#include "symbol/lines_module.h"
#include "symbol/kept.h"
#include "symbol/symbol.h"
#include "symbol/table.h"

/* One module's table. */
struct symtab {
	struct symbol_table table;   /* of packed ones: in the order in which they were found, as far as they were */
	struct packed_symbols packed;
	const struct kept *kept;     /* what those are of */
	pthread_mutex_t unpacking;   /* of what follows, and the table */
	struct idmap ids;            /* of packed ones, by their place */
	_Atomic uint64_t *recent;    /* place << 32 | id of those asked for last: read without the lock */
	uint32_t unpacked;
	const char *_Atomic *shown;  /* by index; NULL until asked for */
	struct demangler demangler;
	struct image images[2];      /* whose strings the names are */
	struct symbol alone;         /* KSYMBOL: the table itself */
	char *text;                  /* or the text of a perf map */
	struct arena names;
	struct symtab_info info;
	struct module_lines *_Atomic lines; /* NULL until asked for */
	struct image_trail trail;    /* kept where options.verbose */
};

/* What all loading shares. */
struct symbol_sources {
	const struct modules *modules;
	struct symbols_options options;
	struct image_options image_options;
	struct arena arena;          /* texts of the options */
	pthread_mutex_t kernel_lock; /* of what follows */
	bool kallsyms_tried;
	struct kallsyms kallsyms;
	struct kept kept;            /* or the same, as an earlier run left it: one of both */
	int64_t kallsyms_shift;      /* from the list's addresses to the recording's */
	struct symtab_info kallsyms_info;
	struct image_trail *kernel_trail; /* of who asks first; NULL */
};

void sources_init(struct symbol_sources *sources, const struct modules *modules, const struct symbols_options *options);
void sources_fini(struct symbol_sources *sources);

struct symtab *symtab_load(struct symbol_sources *sources, const struct module *module);
void symtab_free(struct symtab *tab);
/* The id of the symbol that holds offset, which is in tab->table from then on; 0: none. From any thread. */
uint32_t symtab_find(struct symtab *tab, uint64_t offset);
/* Where its first symbol starts and its last one ends; false: it has none. */
bool symtab_extent(const struct symtab *tab, uint64_t *start, uint64_t *end);
/* Gives a table to symbols that are packed. */
void symtab_take_packed(struct symtab *tab, const struct packed_symbols *packed, const struct kept *kept);

/* Parts of symtab_load. */
void load_files(struct symbol_sources *sources, const struct module *module, struct symtab *tab);
void load_kernel(struct symbol_sources *sources, const struct module *module, struct symtab *tab);
void load_kernel_module(struct symbol_sources *sources, const struct module *module, struct symtab *tab);
size_t load_kernel_parts(struct symbol_sources *sources, const struct module *kernel, struct kernel_part *parts, size_t max);
