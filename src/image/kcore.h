/* Copies of the running kernel's code as it is in memory: /proc/kcore, of which only the kernel's text and its modules are
 * kept, with the lists of symbols and modules beside it. Format: elf(5), ET_CORE. Knows no recording. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* from: the folder of kcore, kallsyms and modules ("/proc"); to: an existing folder, which gets files of these names. */
int kcore_copy(const char *from, const char *to, struct error *err);
/* The bytes at an address, of a copy that image_open opened: how many there are, 0 where none. */
struct image;
size_t kcore_read(const struct image *kcore, uint64_t address, void *out, size_t size);
/* Copies the kcore of that path and its neighbours to DIR/[kernel.kcore]/BUILD-ID/TIME; the build-id is that of
 * ../sys/kernel/notes. 1: done; 0: one with the same modules at the same places is there, unless force. folder: where. */
int kcore_cache_add(const char *dir, const char *kcore, bool force, char *folder, size_t size, struct error *err);
