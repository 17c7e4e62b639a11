/* The extent of the kernel. Its MMAP record covers .text only, its symbols also the sections after it (code that runs once at boot, which
 * is at the bottom of the stack of every idle CPU). */
#pragma once
#include "session/session.h"
#include "symbol/symbol.h"

/* For session_options.kernel_beyond. context: a struct symbols **, set before the session runs. Returns the kernel's mapping if kallsyms
 * has a symbol for the address, otherwise NULL. */
const struct map *kernel_extent_beyond(void *context, const struct session *session, uint64_t address);
/* For trace_options.symbol, with the same context. */
bool kernel_extent_symbol(void *context, const struct module *kernel, const char *name, uint64_t *offset);
/* For session_options.kernel_parts, with the same context. Returns the sections of vmlinux if symbols come from it; otherwise 0. */
size_t kernel_extent_parts(void *context, const struct module *kernel, struct kernel_part *parts, size_t max);
