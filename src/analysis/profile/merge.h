/* The stage after collecting: merges the tables of all workers. The result does not depend on which worker had which sample. Internal to
 * the profile. */
#pragma once
#include "analysis/entry/state.h"

/* Takes ownership of the collectors' tables: they are empty afterwards. Precondition: collected->stacks is allocated and empty. */
void profile_merge(const struct profile *profile, struct collected *collected);
/* The same from copies, without logs: collecting can continue. `profile` is the one whose arena gets the results. */
void profile_merge_copy(const struct profile *profile, struct collected *collected);
/* Only collected->module_ranks, which the merge fills too. */
void profile_rank_modules(const struct profile *profile, struct collected *collected);
