/* The running kernel: where its text lies, its modules, its build-id. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

struct kernel_text {
	char symbol[16];         /* "_text" or "_stext": the first of them that has an address; "" where addresses are hidden */
	uint64_t start;          /* of that symbol */
	uint64_t end;            /* _edata, where the list has it, else _etext; 0: neither */
};

/* From /proc/kallsyms. < 0 where it cannot be read. */
int kernel_text(struct kernel_text *text, struct error *err);

struct kernel_module {
	const char *name;        /* as /proc/modules has it */
	uint64_t start, size;    /* as /proc/modules tells */
	const char *path;        /* of its file under /lib/modules; NULL: not found */
};

struct kernel_modules {
	VEC(struct kernel_module) list;
	struct arena arena;
};

/* Loaded modules whose addresses are visible; none (and no failure) in a kernel without modules. */
int kernel_modules(struct kernel_modules *modules, struct error *err);
void kernel_modules_fini(struct kernel_modules *modules);

/* Sizes that end where the next module begins: since Linux 6.4 the size told is that of all of a module's parts, and only the first,
 * its code, stands at its address. */
void kernel_modules_cut(struct kernel_modules *modules);

/* The GNU build-id note of the kernel, or of a module by name; returns its length, 0 where there is none. */
unsigned kernel_build_id(uint8_t id[20]);
unsigned kernel_module_build_id(const char *name, uint8_t id[20]);
