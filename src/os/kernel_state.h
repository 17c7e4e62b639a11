/* One number for everything that determines the running kernel's symbol list: a list read under another number is outdated, or differs from
 * what the kernel shows to this process. Knows no symbol. */
#pragma once
#include <stdint.h>

/* Hashes the boot id and build of the kernel, its modules (each load of a module changes it), and the first page of /proc/kallsyms, which
 * shows whether addresses are visible. 0: unknown. root: prefix of the paths, "" except in tests. */
uint64_t kernel_state(const char *root);
/* The same without the modules: of what is fixed from the boot on. */
uint64_t kernel_boot_state(const char *root);
