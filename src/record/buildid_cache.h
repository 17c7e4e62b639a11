/* Copies of the modules a recording hit, kept by build-id: DIR/PATH/ID/elf and DIR/.build-id/xx/yyyy… pointing there. */
#pragma once
#include "base/error.h"
#include "record/build_ids.h"

/* Adds what is not there yet; returns how many were added. What cannot be added is passed over. */
size_t buildid_cache_add(const char *dir, const struct recording_facts *facts);
