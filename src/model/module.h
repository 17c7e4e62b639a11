/* Modules (perf: DSOs): the files, kernel parts and other memory that mappings show. Ids are permanent, except for dropped modules. Names
 * are those of perf. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/record.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"

enum module_kind {
	MODULE_FILE,      /* a mapped file; offsets are file offsets */
	MODULE_VDSO,
	MODULE_JIT,       /* a JIT dump with its functions in `jit`; offsets are file offsets of the code bytes */
	MODULE_ANON,      /* anonymous executable memory with symbols in /tmp/perf-PID.map; offsets are addresses */
	MODULE_NONE,      /* memory without symbols: [heap], [stack], //anon without code; offsets are addresses */
	MODULE_KERNEL,    /* [kernel.kallsyms]; offsets are addresses */
	MODULE_KMODULE,   /* a kernel module; offsets are relative to the start of the mapping */
	MODULE_KSYMBOL,   /* a BPF program, trampoline or other separately registered kernel symbol; offsets are relative to the start */
};

struct jit;

struct module {
	uint32_t id;
	enum module_kind kind;
	const char *name;        /* perf's dso->name: "[kernel.kallsyms]", "/usr/bin/x", "[ext4]", "/tmp/perf-12.map" */
	const char *long_name;   /* the path if there is one, otherwise name */
	const char *short_name;  /* the last component of the path; "[ext4]" */
	uint8_t build_id[20];
	uint8_t build_id_len;    /* 0: unknown */
	bool guest;              /* of a virtual machine, which `pid` runs; 0: any */
	int32_t pid;             /* MODULE_ANON: the process; MODULE_FILE, MODULE_JIT: the last process that mapped it, in whose root the
	                          * path is looked up; -1: none */
	uint32_t maj, min;       /* from MMAP2; 0: unknown */
	uint64_t ino, ino_generation;
	uint64_t start;          /* MODULE_KMODULE, MODULE_KSYMBOL, MODULE_KERNEL: start of the last mapping */
	uint64_t size;           /* MODULE_KSYMBOL: size of the code; otherwise 0 */
	uint64_t relocation;     /* MODULE_KERNEL: recorded address of relocation_symbol (_text, _stext); 0: unknown */
	const char *relocation_symbol;
	const char *section;     /* MODULE_KERNEL: name of the section of `whole`; NULL: the module is the kernel itself */
	const struct module *whole;
	struct jit *jit;         /* MODULE_JIT */
	uint32_t generation;     /* the last generation of the model in which a process mapped it */
};

#define MODULE_ID_NONE 0xffffffffu

/* The position of a module in the indices of struct modules. */
struct module_link {
	uint32_t name;               /* id of the name that it is listed under, which may differ from module->name */
	uint32_t next, next_any;     /* next: the module listed before it under the same name; next_any: the same among modules without a
	                              * known file */
	uint64_t listed;             /* increases with each listing */
};

/* The answer of modules_file for a name and a file, valid until the indices change. */
struct module_memo {
	uint64_t changes;            /* of the indices at that time */
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	const char *name;
	struct module *module;
};

struct modules {
	VEC(struct module *) list;   /* by id, in order of creation; pointers are stable; NULL: dropped */
	VEC(uint32_t) free;          /* ids of dropped modules, which the next modules reuse */
	struct arena arena;
	struct strtab names;         /* file names as in the records */
	VEC(uint32_t) by_name;       /* by name id: the module that was listed last, or MODULE_ID_NONE */
	VEC(struct module_link) links; /* by module id */
	uint64_t lists;              /* number of listings so far */
	/* Indices that distinguish files with one name, as a recording may have very many of them. */
	struct idmap by_identity;    /* hash of name and file identity → the module that was listed last */
	VEC(uint32_t) any_by_name;   /* by name id: the module without a known file that was listed last, or MODULE_ID_NONE */
	struct idmap by_build;       /* hash of name and build-id → the module */
	uint64_t changes;            /* of the indices, and of the build-ids that modules get, so far; from 1 */
	struct module_memo *memos;   /* by hash of the inode: most mappings are of a file that other processes have mapped, too */
	uintptr_t seed;              /* of the hashes: makes collisions unpredictable for the content of files */
};

void modules_init(struct modules *modules);
void modules_fini(struct modules *modules);

static inline struct module *modules_get(const struct modules *modules, uint32_t id)
{
	return modules->list.items[id];
}

/* Drops the modules for which `is_unused` returns true: their ids are reused and their memory is freed. The others keep their ids but move:
 * all pointers to modules become invalid. */
void modules_drop(struct modules *modules, bool (*is_unused)(void *context, const struct module *module), void *context);

/* Distinguishes files with one name. Numbers that are all zero match any. */
struct module_identity {
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	const uint8_t *build_id; /* from an MMAP2 record with a build-id, which has no numbers; borrowed */
	uint8_t build_id_len;    /* 0: unknown */
};

/* Returns the module with this name and file, or NULL. */
struct module *modules_find(const struct modules *modules, const char *name, const struct module_identity *identity);
/* Iterate over the modules that are listed under a name, the last one first; NULL: no more. */
struct module *modules_first(const struct modules *modules, const char *name);
struct module *modules_next(const struct modules *modules, const struct module *module);

/* Returns the module of a file or pseudo file, creating it at the first call. name: as in the record. */
struct module *modules_file(struct modules *modules, const char *name, enum module_kind kind, const struct module_identity *identity);
/* The module of an ordinary file, if modules_remember was called for this name and file and nothing has changed since; NULL: not known. */
struct module *modules_recall(const struct modules *modules, const char *name, const struct module_identity *identity);
/* module: as modules_file returned it for this name and file, which is known by its numbers. */
void modules_remember(struct modules *modules, struct module *module, const char *name, const struct module_identity *identity);
/* What is remembered is no longer valid. */
void modules_forget(struct modules *modules);
/* Whether the name is that of several modules. */
bool modules_share_name(const struct modules *modules, uint32_t id);
/* Whether the module may be this file, by build-id or by numbers, as far as both are known. */
bool module_is_file(const struct module *module, const struct module_identity *identity);
/* Returns the module of the kernel. name: "[kernel.kallsyms]", or the path in the build-id table. */
struct module *modules_kernel(struct modules *modules, const char *name);
/* Creates a module for a section of the kernel other than .text: "[kernel.kallsyms].init.text". */
struct module *modules_kernel_section(struct modules *modules, const struct module *kernel, const char *section);
/* Returns a kernel module by its short name ("[ext4]"); path: the long name of a new one. */
struct module *modules_kmodule(struct modules *modules, const char *short_name, const char *path);
/* Converts the module of a file to a JIT dump without functions; NULL: it is one already. */
struct jit *modules_make_jit(struct modules *modules, uint32_t id);
/* Creates a further module of the same JIT dump, for functions that arrive after the first were used; it has the pid of the first. */
struct module *modules_jit_part(struct modules *modules, uint32_t id);
/* Returns the kernel or a kernel module of the virtual machine that process pid runs (0: any). long_name: of a new one. */
struct module *modules_guest(struct modules *modules, enum module_kind kind, int32_t pid, const char *name, const char *long_name);
void module_set_build_id(struct module *module, const uint8_t *id, uint8_t len);
struct module *modules_ksymbol(struct modules *modules, const char *name);

/* Converts "/lib/modules/x/ext4-foo.ko.xz" or "[ext4_foo]" to "[ext4_foo]"; false: not a kernel module. */
bool kmodule_name(const char *path, char *out, size_t size);
