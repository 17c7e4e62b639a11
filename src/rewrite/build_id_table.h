/* The feature BUILD_ID of the new recording: the modules that samples hit. */
#pragma once
#include "record/write/build_ids.h"
#include "rewrite/state.h"

/* The build-id that is recorded for a module, otherwise that of its file; false: unknown. A kernel whose build-id is not recorded has none:
 * the running one may be another. */
bool build_id_of_module(struct hit_module *hit, const struct module *module);
/* Appends the feature's body: the modules that were hit, by path, and a vdso; the source's own table if there are hardware traces, as it is
 * unknown what these hit. Copies the files that were hit to the build-id cache. */
void build_id_table_make(const struct rewrite *rewrite, const char *cache, struct writer *out);
