/* Location → symbol. Symbol tables are found and loaded once per module, at first need, from any thread; a loaded table
 * is immutable. Knows no sample and no output.
 *
 * Where a table comes from, for files: the recording's build-id in the build-id cache, the file itself (under --symfs
 * where given), debug files by build-id and debuglink, .gnu_debugdata; .symtab first, .dynsym where there is none. A file
 * whose build-id differs from the recording's is not used. For the kernel: --kallsyms alone, --vmlinux alone, vmlinux of
 * the cache or the usual places, /proc/kallsyms where its build-id is the recording's or that tells none (or what an
 * earlier run kept of it), the cache's copy. Kernel modules: their file, otherwise the same list. For anonymous code: /tmp/perf-PID.map. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/module.h"

struct symbol {
	uint64_t start, end;   /* in the module's offsets; end exclusive */
	const char *name;      /* as stored, never NULL; demangled by symbols_name on demand */
	uint8_t binding;       /* STB_*: 0 local, 1 global, 2 weak */
	uint8_t type;          /* STT_* */
	uint8_t flags;         /* the loader's own … */
	uint32_t order;        /* … and this too */
};

struct symbols_options {
	const char *symfs;           /* "" or NULL: none */
	const char *vmlinux;         /* --vmlinux */
	const char *kallsyms;        /* --kallsyms */
	const char *buildid_dir;     /* the build-id cache */
	const char *kept_dir;        /* where lists may be kept between runs, "$HOME/.cache"; NULL: nowhere */
	const char *osrelease;       /* of the recorded machine, for the places of vmlinux; NULL: of this one */
	bool no_demangle;
	bool short_names;            /* without the arguments of templates and generics */
	bool demangle_kernel;        /* names of vmlinux and of module files too */
	bool no_vmlinux;             /* --ignore-vmlinux */
	bool debuginfod;             /* files that are nowhere come from the servers of $DEBUGINFOD_URLS */
	bool no_kernel_lookup;       /* nothing of the running machine's kernel */
	int verbose;                 /* > 0: C++ parameters are shown */
};

struct symbols;

/* modules must outlive it, and may grow while nothing is looked up. The options are copied. */
struct symbols *symbols_new(const struct modules *modules, const struct symbols_options *options);
void symbols_free(struct symbols *symbols);

/* A number of the symbol that holds offset in the module's table, 0: none. The id is stable for the life of `symbols`.
 * Loads the table at the first call for a module; safe from several threads. */
uint32_t symbols_lookup(struct symbols *symbols, const struct module *module, uint64_t offset);
/* Ids of functions that were inlined, from lines.h; their symbol has the extent of the one they are in. */
#define SYMBOL_INLINED 0x80000000u
static inline bool symbol_is_inlined(uint32_t id)
{
	return id & SYMBOL_INLINED;
}
/* The symbol of an id that symbols_lookup returned for this module (never 0). */
const struct symbol *symbols_get(struct symbols *symbols, const struct module *module, uint32_t id);
/* What to print: demangled unless told not to; printable; cached; valid as long as `symbols`. */
const char *symbols_name(struct symbols *symbols, const struct module *module, uint32_t id);

/* Loads the table now, if it was not yet: a job for a pool, one module each. */
void symbols_load(struct symbols *symbols, const struct module *module);
/* Where the first symbol of a module starts and the last one ends; false: it has none. */
bool symbols_extent(struct symbols *symbols, const struct module *module, uint64_t *start, uint64_t *end);

/* The sections of the kernel's file as they lie in memory: how many, 0 where names come from elsewhere. Loads no table. The
 * texts live as long as `symbols`. */
struct kernel_part;
size_t symbols_kernel_parts(struct symbols *symbols, const struct module *kernel, struct kernel_part *parts, size_t max);

enum symtab_state {
	SYMTAB_NOT_TRIED,
	SYMTAB_LOADED,
	SYMTAB_MISSING,      /* no file, or none with symbols */
	SYMTAB_MISMATCH,     /* a file was there, of another build-id */
	SYMTAB_DAMAGED,      /* a file was there, but no ELF that makes sense */
	SYMTAB_HIDDEN,       /* the kernel does not show its addresses to this user */
};

/* How loading went, where from (the path, "" for none), and perf's letter for -v ('k', 'd', 'B', …). */
struct symtab_info {
	enum symtab_state state;
	const char *path;
	char origin;         /* '!': none */
	uint32_t root_len;   /* of what path starts with: --symfs */
	uint64_t text_at;    /* of a kernel module's file: where its .text starts */
	uint32_t count;
};
struct symtab_info symbols_info(const struct symbols *symbols, const struct module *module);
/* Where its symbols were looked for; NULL where nothing was, or options.verbose is 0. */
struct image_trail;
const struct image_trail *symbols_trail(const struct symbols *symbols, const struct module *module);
/* And its lines and inlined calls. */
const struct image_trail *symbols_trail_of_lines(const struct symbols *symbols, const struct module *module);
