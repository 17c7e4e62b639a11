/* The types that the running kernel publishes of itself and of its modules (/sys/kernel/btf). */
#pragma once
#include "base/str.h"
#include "elf/btf_types.h"

struct kernel_types {
	struct str texts[2];
	struct btf_types kernel, module;
};

/* module: a loaded module; NULL: the kernel alone. Fails if the types are not published. */
int kernel_types_open(struct kernel_types *types, const char *module, struct error *err);
void kernel_types_close(struct kernel_types *types); /* accepts a zeroed one */
/* The table of the module, or of the kernel. */
const struct btf_types *kernel_types_table(const struct kernel_types *types);
