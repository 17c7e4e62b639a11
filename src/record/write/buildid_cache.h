/* Copies the modules that a recording hit to the build-id cache (image/cache.h). */
#pragma once
#include <stdbool.h>

#include "base/error.h"
#include "image/debuginfod.h"
#include "record/write/build_ids.h"

/* Adds modules that are not in the cache; returns how many. Modules that cannot be added are skipped. debuginfod: servers of debug files
 * that this machine does not have. dir NULL, or a folder of another user: adds nothing. */
size_t buildid_cache_add(const char *dir, const struct recording_facts *facts, struct debuginfod *debuginfod);
