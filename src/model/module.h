/* Modules (DSOs): the files and non-files that addresses lie in. Ids are permanent, but those of modules that are dropped; names as
 * perf gives them. */
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
	MODULE_JIT,       /* the dump of a just-in-time compiler: `jit` tells its functions; offsets are those of their bytes in it */
	MODULE_ANON,      /* anonymous executable memory: /tmp/perf-PID.map; offsets are addresses */
	MODULE_NONE,      /* [heap], [stack], //anon without code …: never has symbols; offsets are addresses */
	MODULE_KERNEL,    /* [kernel.kallsyms]; offsets are addresses */
	MODULE_KMODULE,   /* a kernel module; offsets are address - start of the map */
	MODULE_KSYMBOL,   /* a BPF program, trampoline or other kernel symbol of its own; offsets: address - start */
};

struct jit;

struct module {
	uint32_t id;
	enum module_kind kind;
	const char *name;        /* perf's dso->name: "[kernel.kallsyms]", "/usr/bin/x", "[ext4]", "/tmp/perf-12.map" */
	const char *long_name;   /* the path where there is one; otherwise name */
	const char *short_name;  /* last path component; "[ext4]" */
	uint8_t build_id[20];
	uint8_t build_id_len;    /* 0: the recording tells none */
	bool guest;
	int32_t pid;             /* MODULE_ANON: the process; MODULE_FILE, MODULE_JIT: the last that mapped it, whose root it may be seen
	                          * from; -1 */
	uint32_t maj, min;       /* of MMAP2; 0 */
	uint64_t ino, ino_generation;
	uint64_t start;          /* MODULE_KMODULE, MODULE_KSYMBOL, MODULE_KERNEL: start of the first map seen */
	uint64_t size;           /* MODULE_KSYMBOL: length of the code; others 0 */
	uint64_t relocation;     /* MODULE_KERNEL: recorded address of relocation_symbol (_text, _stext); 0: none */
	const char *relocation_symbol;
	const char *section;     /* MODULE_KERNEL: the section of `whole` that it is, where that is not .text; NULL: the kernel itself */
	const struct module *whole;
	struct jit *jit;         /* MODULE_JIT */
	uint32_t generation;     /* of the model: the last in which a process mapped it */
};

#define MODULE_ID_NONE 0xffffffffu

struct modules {
	VEC(struct module *) list;   /* by id, in the order they were first seen; pointers never move; NULL: dropped */
	VEC(uint32_t) free;          /* ids that were dropped: the next modules get them */
	struct arena arena;
	struct strtab names;         /* of files as the records give them */
	VEC(uint32_t) by_name;       /* name id → the first module of that name, MODULE_ID_NONE */
	VEC(uint32_t) next_of_name;  /* module id → the next one of the same name */
};

void modules_init(struct modules *modules);
void modules_fini(struct modules *modules);

static inline struct module *modules_get(const struct modules *modules, uint32_t id)
{
	return modules->list.items[id];
}

/* Drops all that `goes` is true for: their ids are given to others, and the memory of their names comes back. What stays keeps its id,
 * but is moved: nothing that was borrowed of any module holds after. */
void modules_drop(struct modules *modules, bool (*goes)(void *context, const struct module *module), void *context);

/* What tells files of one name apart: all zero matches any. */
struct module_identity {
	uint32_t maj, min;
	uint64_t ino, ino_generation;
};

/* The module of this file (or pseudo file), made at first sight. name: as in the record. */
struct module *modules_file(struct modules *modules, const char *name, enum module_kind kind, const struct module_identity *identity);
/* The one kernel; name: "[kernel.kallsyms]" or the path that the build-id table gives. */
struct module *modules_kernel(struct modules *modules, const char *name);
/* What lies in a section of the kernel's file beside .text: "[kernel.kallsyms].init.text". */
struct module *modules_kernel_section(struct modules *modules, const struct module *kernel, const char *section);
/* A kernel module by its short name ("[ext4]"); path: the long name it gets where it is new. */
struct module *modules_kmodule(struct modules *modules, const char *short_name, const char *path);
/* Makes the module of a file the dump that it is: its functions are still to be added. NULL: it is one already. */
struct jit *modules_make_jit(struct modules *modules, uint32_t id);
/* One more module of the same dump, for functions that were told after its others were looked at; the first one's pid. */
struct module *modules_jit_part(struct modules *modules, uint32_t id);
struct module *modules_ksymbol(struct modules *modules, const char *name);

/* "/lib/modules/x/ext4-foo.ko.xz" or "[ext4_foo]" → "[ext4_foo]" in out; false where path is no kernel module. */
bool kmodule_name(const char *path, char *out, size_t size);
