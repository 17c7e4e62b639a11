/* Copies of the modules a recording hit, in the build-id cache (image/cache.h). */
#pragma once
#include <stdbool.h>

#include "base/error.h"
#include "image/debuginfod.h"
#include "record/write/build_ids.h"

/* Adds what is not there yet; returns how many were added. What cannot be added is passed over. debuginfod: servers are asked
 * for debug files that this machine has none of. dir NULL, or a folder that is not the user's: nothing is added. */
size_t buildid_cache_add(const char *dir, const struct recording_facts *facts, struct debuginfod *debuginfod);
