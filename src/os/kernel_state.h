/* What the running kernel's list of symbols depends on, as one number: a list that was read under another number is not this
 * kernel's any more, or not what it shows to this process. Knows no symbol. */
#pragma once
#include <stdint.h>

/* Of this boot and build of the kernel, its modules (each load of one counts), and the first page of /proc/kallsyms, which tells
 * whether addresses are shown. 0: not known. root: what the paths start with, "" but in tests. */
uint64_t kernel_state(const char *root);
