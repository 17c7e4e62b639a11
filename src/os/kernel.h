/* The running kernel: the addresses of its text, its modules, its build-id. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

struct kernel_text {
	char symbol[16];         /* "_text" or "_stext": the first of them with an address; "" if addresses are hidden */
	uint64_t start;          /* address of that symbol */
	uint64_t end;            /* address of _edata if listed, otherwise of _etext; 0: neither */
};

/* Reads /proc/kallsyms. < 0 if it cannot be read. */
int kernel_text(struct kernel_text *text, struct error *err);
/* The same, from a file below the user's cache (os/private_file.h) if it is of this boot, as reading the list takes long; writes the file
 * otherwise. base NULL: without. */
int kernel_text_cached(const char *base, struct kernel_text *text, struct error *err);

struct kernel_module {
	const char *name;        /* as in /proc/modules */
	uint64_t start, size;    /* as in /proc/modules */
	const char *path;        /* of its file under /lib/modules; NULL: not found */
};

struct kernel_modules {
	VEC(struct kernel_module) list;
	struct arena arena;
};

/* Loaded modules with visible addresses; a kernel without modules yields an empty list and no failure. */
int kernel_modules(struct kernel_modules *modules, struct error *err);
void kernel_modules_fini(struct kernel_modules *modules);

/* Shortens modules that overlap the next one: since Linux 6.4 the reported size is that of all parts of a module, but only the first, its
 * code, is at its address. */
void kernel_modules_cut(struct kernel_modules *modules);

/* The GNU build-id note of the kernel, or of a module by name; returns its length, 0 if absent. */
unsigned kernel_build_id(uint8_t id[20]);
unsigned kernel_module_build_id(const char *name, uint8_t id[20]);
