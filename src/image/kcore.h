/* Copies of the running kernel's code in memory: the text and the modules of /proc/kcore (proc(5)), together with the lists of symbols and
 * modules. Format: elf(5), ET_CORE. Knows no recording. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* from: the folder of kcore, kallsyms and modules ("/proc"); to: an open folder, in which files of these names are created. */
int kcore_copy(const char *from, int to, struct error *err);
/* The bytes at an address, of a copy opened with image_open: returns how many there are, 0 if none. */
struct image;
size_t kcore_read(const struct image *kcore, uint64_t address, void *out, size_t size);
/* Copies the kcore at that path and its neighbours to [kernel.kcore]/BUILD-ID/TIME below the cache (image/cache.h); the build-id is that of
 * ../sys/kernel/notes. 1: copied; 0: a copy with the same modules at the same addresses exists, and force is not set. Stores the path in
 * folder. */
int kcore_cache_add(int cache, const char *kcore, bool force, char *folder, size_t size, struct error *err);
