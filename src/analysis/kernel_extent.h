/* How far the kernel reaches: its record tells of its text alone, its symbols also of what stands behind that (what ran once at
 * boot, whose frames are at the bottom of every idle CPU's stack). */
#pragma once
#include "session/session.h"
#include "symbol/symbol.h"

/* For session_options.kernel_beyond; context: a struct symbols **, set before the session runs. The kernel's mapping where the
 * address is one that kallsyms has a symbol for, otherwise NULL. */
const struct map *kernel_extent_beyond(void *context, const struct session *session, uint64_t address);
/* For session_options.kernel_parts, with the same context: the sections of vmlinux, where that is what names come from. */
size_t kernel_extent_parts(void *context, const struct module *kernel, struct kernel_part *parts, size_t max);
