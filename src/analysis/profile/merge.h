/* The stage after collecting: what the workers found becomes one, the same whatever worker had which sample. Internal to the profile. */
#pragma once
#include "analysis/entry/state.h"

/* Takes the collectors' tables over: they are empty afterwards. collected->stacks is there, and empty. */
void profile_merge(const struct profile *profile, struct collected *collected);
